"""One point of ``growth.py``, in a process of its own: read, prepare, train, attack one user.

    python benchmarks/growth_path.py FILE.parquet '{"interval": "1d", …}'

Phones are trained on all cores. Prints JSON: seconds of each stage on the clock and of all cores,
and the peak of the memory when it ends. Importing is a stage too, so that the others are free of
it.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path


def main(file: str, settings: dict) -> None:
    stages: dict[str, dict[str, float]] = {}
    clock, busy = time.perf_counter(), time.process_time()

    def ends(stage: str) -> None:
        nonlocal clock, busy
        now, now_busy = time.perf_counter(), time.process_time()
        stages[stage] = {
            "seconds": now - clock,
            "cpu_s": now_busy - busy,
            "peak_mb": peak_mb(),
        }
        clock, busy = now, now_busy

    import veilmap
    from veilmap.federation.observation import Recorder
    from veilmap.federation.trainer import OnThreads
    from veilmap.study.attack import attack
    from veilmap.study.evidence.evidence import evidence_of
    from veilmap.study.prepare import prepare
    from veilmap.study.settings import RunSettings
    from veilmap.study.train import train_prepared

    ends("import")
    data = veilmap.read(file)
    ends("read")
    prepared = prepare(data, RunSettings.of(map="network", **settings))
    ends("prepare")
    target = prepared.data.users[0]
    seen = Recorder((target,))
    run = train_prepared(prepared, seen, trainer=OnThreads(len(os.sched_getaffinity(0))))
    ends("train")
    found = attack(evidence_of(prepared, seen.observations), method="search", target=target)
    ends("attack")
    facts = {
        "measurements": len(data),
        "users": len(prepared.users),
        "rounds": len(run.history),
        "attacked": len(found.norms),
    }
    print(json.dumps(facts | {"stages": stages}))


def peak_mb() -> float:
    """So far, of this process alone; where the system keeps no such count, with its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
