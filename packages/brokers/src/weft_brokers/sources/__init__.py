"""The kinds of sources that read messages of brokers. Each `KIND` needs no package of theirs."""
