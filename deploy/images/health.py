"""Exit with 0 if the roles that are named live in this container: the api's database answers it, and
driver and worker have left their metrics in the home a short while ago."""

import glob
import os
import ssl
import sys
import time
import urllib.request

_AGE_MAX_S = 30


def _api() -> bool:
    scheme = "https" if os.environ.get("WEFT_TLS_CERT_FILE") else "http"
    url = f"{scheme}://127.0.0.1:{os.environ.get('WEFT_PORT', '8765')}/readyz"
    anyone = ssl._create_unverified_context()  # it is asked for no secret, on this very host
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=anyone)
    )
    try:
        return bool(opener.open(url, timeout=4).status == 200)
    except OSError as error:
        print(f"{url}: {error}")
        return False


def _loop(role: str) -> bool:
    files = glob.glob(f"{os.environ['WEFT_HOME']}/run/{role}*.prom")
    ages = [time.time() - os.stat(file).st_mtime for file in files]
    if ages and min(ages) < _AGE_MAX_S:
        return True
    print(f"{role}: no sign of life for {round(min(ages)) if ages else '–'} s")
    return False


sys.exit(not all([_api() if role == "api" else _loop(role) for role in sys.argv[1:]]))
