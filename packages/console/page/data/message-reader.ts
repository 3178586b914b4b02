export interface Message {
  readonly data: string;
  readonly id: string;
}

/** Takes the text of a stream of server-sent events in pieces, and returns the messages with data that a piece ends. */
export function createMessageReader(): (piece: string) => readonly Message[] {
  let text = "";
  return (piece) => {
    const messages: Message[] = [];
    // The end of a message may be split between two pieces.
    let from = Math.max(0, text.length - 1);
    text += piece;
    let start = 0;
    for (;;) {
      const end = text.indexOf("\n\n", from);
      if (end === -1) break;
      const { data, id } = parseMessage(text.slice(start, end));
      if (data !== undefined) messages.push({ data, id });
      start = end + 2;
      from = start;
    }
    text = text.slice(start);
    return messages;
  };
}

/** Our server writes each field once, and `data` on one line; other lines are comments. */
function parseMessage(message: string): { readonly data: string | undefined; readonly id: string } {
  const lines = message.split("\n");
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  return { data: field("data"), id: field("id") ?? "" };
}
