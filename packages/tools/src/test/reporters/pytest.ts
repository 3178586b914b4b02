import { PYTHON_EVENTS } from "./python-events.ts";

/** The module name under which pytest imports it. */
export const PYTEST_PLUGIN = "octant_pytest";

export const PYTEST_REPORTER = `${PYTHON_EVENTS}
def pytest_configure(config):
    # With xdist the workers load this too, and the one that they report to tells.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(str(config.rootdir)), "octant-reporter")

def pytest_collection_modifyitems(config, items):
    wanted = [item for item in items if selected(item.nodeid)]
    if len(wanted) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted

def problem_of(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr)[:MAX_CHARS]
    if crash is None:
        errors = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
        return {"message": "\\n".join(errors) or text, "stack": text}
    return {
        "message": crash.message[:MAX_CHARS],
        "stack": text,
        "at": {"file": str(crash.path), "line": crash.lineno},
    }

class Reporter:
    def __init__(self, root):
        self.root = root

    def file_of(self, nodeid):
        return os.path.join(self.root, nodeid.split("::")[0])

    def pytest_runtest_logreport(self, report):
        # Setup and teardown count only where they failed, or where setup skipped the test.
        if report.when != "call" and not report.failed and not (report.when == "setup" and report.skipped):
            return
        names = report.nodeid.split("::")
        outcome = "fail" if report.failed else "skip" if report.skipped else "pass"
        tell(
            event="test", name=names[-1], suite=names[1:-1], file=self.file_of(report.nodeid), id=report.nodeid,
            outcome=outcome, ms=report.duration * 1000,
            problem=problem_of(report) if report.failed else None,
        )

    def pytest_collectreport(self, report):
        if report.failed:
            name = report.nodeid or "collection"
            tell(event="broken", name=name, file=self.file_of(report.nodeid), problem=problem_of(report))

    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus not in (2, 3, 4):
            tell(event="end")
`;
