/** The shared start of both Python reporters. They run on any Python 3. */
export const PYTHON_EVENTS = String.raw`
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
