"""How pictures look: one style sheet for pages and for files that stand alone."""

from typing import Final

SCHEMES: Final = """
svg.picture, body.picture { --back: #fff; --raised: #f4f6f8; --text: #1b1f23; --soft: #57606a;
  --line: #d0d7de;
  --success: #1a7f37; --failed: #b42318; --error: #8b1e6b; --cancelled: #6e7781;
  --running: #0a5ca8;
  --waiting: #9a6700; --pending: #8c959f; }
@media (prefers-color-scheme: dark) { svg.picture, body.picture {
  --back: #0f1419; --raised: #1a2129; --text: #e6edf3; --soft: #9aa4ae; --line: #323b45;
  --success: #3fb950; --failed: #ff7b72; --error: #e27bd0; --cancelled: #9aa4ae;
  --running: #6cb6ff; --waiting: #d9a93a; --pending: #7d8792; } }
body.picture { margin: 1rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
svg.picture { background: var(--back); }
"""
"""For a file that stands alone: the colours that a page brings itself."""

STYLE: Final = """
.picture text { fill: var(--text); font: 13px system-ui, sans-serif; }
.picture text.small { fill: var(--soft); font-size: 11px; }
.picture .edge { fill: none; stroke: var(--soft); stroke-opacity: .55; }
.picture .arrow { fill: var(--soft); }
.picture .grid { stroke: var(--line); }
.picture .box { fill: var(--raised); stroke: currentColor; stroke-width: 1.5; }
.picture .s-pending .box, .picture .s-ready .box,
.picture .s-queued .box { stroke-dasharray: 4 3; }
.picture .s-cancelled .box { stroke-dasharray: 1.5 3; }
.picture .s-failed .box, .picture .s-error .box { stroke-width: 3; }
.picture .mark { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round;
  stroke-linejoin: round; }
.picture a:hover .box, .picture a:focus .box { fill: var(--back); }
.picture .s-success { color: var(--success); } .picture .s-failed { color: var(--failed); }
.picture .s-error { color: var(--error); }
.picture .s-cancelled { color: var(--cancelled); }
.picture .s-running, .picture .s-creating { color: var(--running); }
.picture .s-ready, .picture .s-queued, .picture .s-blocked { color: var(--waiting); }
.picture .s-pending { color: var(--pending); }
.picture .part { fill: currentColor; }
.picture .bad { fill-opacity: .25; stroke: currentColor; stroke-width: 1.5; }
.picture .p-waiting { color: var(--waiting); } .picture .p-staging { color: var(--pending); }
.picture .p-starting { color: var(--error); } .picture .p-running { color: var(--running); }
.picture .p-storing { color: var(--success); } .picture .p-blocked { color: var(--failed); }
.picture .lane { fill: var(--raised); }
"""
