"""The kinds of sinks whose messages go to brokers. Each `KIND` needs no package of theirs."""
