import os
import signal
import subprocess

from weft.run.host.sleepers import is_stopped


def test_only_a_process_that_was_stopped_counts_as_asleep() -> None:
    with subprocess.Popen(["/bin/sleep", "1000"]) as process:
        before = is_stopped(process.pid)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        stopped = is_stopped(process.pid)
        process.kill()
        process.wait()

    assert (before, stopped, is_stopped(process.pid)) == (False, True, False)
