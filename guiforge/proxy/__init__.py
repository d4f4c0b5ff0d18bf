"""The recording proxy: any harness's model calls, served from a policy and kept as exact training data.

    async with proxy.serving() as base_url: ...    # or: with in_thread(proxy) as running: ...
    opened = proxy.open(key, deadline_s=1800, task=task)
    # the harness gets base_url and opened.completions_key; nothing else

Invariant: a call is in the store before the end of its reply leaves, whatever kills the process afterwards; an
episode's key asks for completions of that episode and does nothing else.
"""

from guiforge.proxy.book import Limits
from guiforge.proxy.keys import admin_key
from guiforge.proxy.proxy import URL_FILE, Opened, Proxy
from guiforge.proxy.replicas import HttpUpstreams
from guiforge.proxy.threads import Running, in_thread
from guiforge.proxy.upstreams import Answer, Ask, Upstream, UpstreamFailed, WorkerUpstream

__all__ = [
    "URL_FILE",
    "Answer",
    "Ask",
    "HttpUpstreams",
    "Limits",
    "Opened",
    "Proxy",
    "Running",
    "Upstream",
    "UpstreamFailed",
    "WorkerUpstream",
    "admin_key",
    "in_thread",
]
