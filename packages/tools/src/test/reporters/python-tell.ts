/** The part that both of our Python reporters start with. They run on whatever Python 3 the project has. */
export const PYTHON_TELL = String.raw`
import json, os

MAX_CHARS = 65536

def tell(**event):
    with open(os.environ["OCTANT_TEST_EVENTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")

def selected(identifier):
    wanted = os.environ.get("OCTANT_TEST_FILTER")
    return not wanted or wanted in identifier
`;

/** The variable that holds the text which the names of the wanted tests have in them. */
export const FILTER_VARIABLE = "OCTANT_TEST_FILTER";
