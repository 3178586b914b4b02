/** The areas of a review, with the questions that it must answer. */
export const FOCUS_AREAS = {
  general: [
    "Does the work do all that was asked, and nothing beyond it?",
    "What was assumed, and which assumption would hurt most if it is wrong?",
    "What would a colleague object to first?",
  ],
  functionality: [
    "Which inputs give a wrong result: empty, largest, malformed, repeated, concurrent?",
    "Does every failure reach the caller with what to do next?",
    "What happens when it stops half way?",
  ],
  readability: [
    "Can each name be understood without its body?",
    "Which part needs a second reading, and why?",
    "Is the same fact written twice?",
  ],
  maintainability: [
    "Which change is likely next, and how many places would it touch?",
    "What is there that nobody needs?",
    "Do the dependencies point one way?",
  ],
  testing: [
    "Which test fails if the change is taken out again?",
    "Which behaviour has no test?",
    "Can a test fail by chance, or on a slower machine?",
  ],
  documentation: [
    "Would a new user know that this exists and how to use it?",
    "Which statement in the docs is no longer true?",
    "Do messages and comments say why, in plain words?",
  ],
  architecture: [
    "Is it in the layer where readers look for it?",
    "Which simpler shape was not chosen, and why?",
    "What does it make harder to change later?",
  ],
  security: [
    "Which input comes from someone who is not trusted, and where is it checked?",
    "What can be read, written, run or reached that could not be before?",
    "Where could a secret end up: log, error, file, request?",
  ],
  performance: [
    "What grows with the size of the input: time, memory, requests?",
    "What is done again that could be done once?",
    "How was it measured, and against what?",
  ],
} as const;

export type FocusArea = keyof typeof FOCUS_AREAS;
// Object.keys widens the keys to string.
export const FOCUS_NAMES = Object.keys(FOCUS_AREAS) as [FocusArea, ...FocusArea[]];
