/** The shared start of both Python reporters. They run on any Python 3. */
const PYTHON_EVENTS = String.raw`
import json, os

MAX_CHARS = 65536

def tell(**event):
    with open(os.environ["OCTANT_TEST_EVENTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")

def selected(identifier):
    wanted = os.environ.get("OCTANT_TEST_FILTER")
    return not wanted or wanted in identifier
`;

/** The variable with the text that selected test names contain. */
export const FILTER_VARIABLE = "OCTANT_TEST_FILTER";

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

/** Replaces "python -m unittest": same arguments, with a reporting result class. */
export const UNITTEST_RUNNER = `${PYTHON_EVENTS}
import sys, time, traceback, unittest

def place_of(error):
    # The innermost frame that is not unittest's own; its modules are marked like this.
    found, trace = None, error[2]
    while trace is not None and not (found and "__unittest" in trace.tb_frame.f_globals):
        found = {"file": trace.tb_frame.f_code.co_filename, "line": trace.tb_lineno}
        if "__unittest" in trace.tb_frame.f_globals:
            found = None
        trace = trace.tb_next
    return found

class Result(unittest.TextTestResult):
    def startTest(self, test):
        self.began = time.monotonic()
        self.seen = False
        super().startTest(test)

    def told(self, test, outcome, error=None, text=None):
        self.seen = True
        identifier = test.id()
        if identifier.startswith("unittest.loader._FailedTest."):
            name = identifier[len("unittest.loader._FailedTest."):]
            problem = {"message": str(error[1])[:MAX_CHARS], "stack": text}
            return tell(event="broken", name=name, problem=problem)
        names = identifier.split(".")
        module = sys.modules.get(type(test).__module__)
        tell(
            event="test", name=names[-1], suite=names[:-1], file=getattr(module, "__file__", None), id=identifier,
            outcome=outcome, ms=(time.monotonic() - getattr(self, "began", time.monotonic())) * 1000,
            problem=None if outcome != "fail" else {
                "message": (str(error[1]) if error else text)[:MAX_CHARS],
                "stack": text, "at": place_of(error) if error else None,
            },
        )

    def addSuccess(self, test):
        super().addSuccess(test)
        if not self.seen:
            self.told(test, "pass")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.told(test, "skip")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.told(test, "fail", error, self.failures[-1][1][:MAX_CHARS])

    def addError(self, test, error):
        super().addError(test, error)
        self.told(test, "fail", error, self.errors[-1][1][:MAX_CHARS])

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.seen = True
            text = "".join(traceback.format_exception(*error))[:MAX_CHARS]
            names = test.id().split(".")
            tell(
                event="test", name=names[-1] + " " + subtest._subDescription(), suite=names[:-1], id=test.id(),
                outcome="fail", problem={"message": str(error[1])[:MAX_CHARS], "stack": text, "at": place_of(error)},
            )

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.told(test, "pass")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.told(test, "fail", None, "it was expected to fail, and passed")

def wanted(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from wanted(test)
        elif selected(test.id()) or test.id().startswith("unittest.loader._FailedTest."):
            yield test

class Runner(unittest.TextTestRunner):
    resultclass = Result

    def run(self, suite):
        result = super().run(unittest.TestSuite(wanted(suite)) if os.environ.get("OCTANT_TEST_FILTER") else suite)
        tell(event="end")
        return result

sys.path[0] = os.getcwd()
try:
    unittest.main(module=None, argv=["python -m unittest"] + sys.argv[1:], testRunner=Runner)
except Exception as error:
    message = "".join(traceback.format_exception_only(type(error), error))
    tell(event="broken", name=" ".join(sys.argv[1:]), problem={
        "message": message[:MAX_CHARS], "stack": traceback.format_exc()[:MAX_CHARS],
    })
    raise
`;
