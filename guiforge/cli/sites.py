"""`guiforge sites`: installs the web applications of browser suites and makes their base data, once a machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from guiforge.cli.options import BadInput


def set_up(names: Sequence[str], out: Console) -> int:
    """Make what is missing of these sites, or of all; 1 where one can't be made. Raises BadInput for a name."""
    from envs.browser import sites
    from envs.browser.sites import cache

    try:
        wanted = [sites.load(name) for name in names or sites.names()]
    except LookupError as problem:
        raise BadInput(str(problem.args[0])) from None
    missing = [site for site in wanted if not cache.prepared(site).whole]
    columns = (SpinnerColumn(), TextColumn("{task.fields[site]:12}"), TextColumn("{task.description}"))
    failed = []
    with (
        Progress(*columns, TimeElapsedColumn(), console=out, disable=not missing) as progress,
        ThreadPoolExecutor(max(1, min(len(missing), os.cpu_count() or 1))) as workers,
    ):
        bars = {site.name: progress.add_task("waiting", site=site.name, total=None, start=False) for site in missing}

        def make(site: sites.Site) -> None:
            bar = bars[site.name]
            progress.start_task(bar)
            cache.prepare(site, lambda step: progress.update(bar, description=step))
            progress.update(bar, description="done", total=1, completed=1)

        for site, job in [(site, workers.submit(make, site)) for site in missing]:
            try:
                job.result()
            except (sites.SiteBroken, OSError) as error:
                progress.update(bars[site.name], description="failed", total=1, completed=1)
                failed.append(f"{site.name}: {error}")
    for line in failed:
        out.print(line, markup=False, soft_wrap=True, style="red")
    out.print(f"{len(wanted) - len(failed)} of {len(wanted)} sites are ready", markup=False)
    return 1 if failed else 0
