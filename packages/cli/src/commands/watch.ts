import { type ControlEvent, describeEvent, followProcesses } from "@octant/app";
import { defineCommand, ENDING_SIGNALS, EXIT, onSignals, print, UsageError } from "../command.ts";
import { note, printJsonText } from "../output.ts";

export const watch = defineCommand({
  name: "watch",
  summary: "Print the events of your running Octant processes live",
  arguments: [{ name: "PID", optional: true }],
  flags: {
    topic: { summary: "Only this topic, such as calls, sessions or questions", value: "TOPIC", many: true },
    retained: { summary: "Start with the events that the processes have retained" },
    json: { summary: "Print each event as one line of JSON" },
  },
  notes: `Processes that start later are included; Ctrl-C ends it. With a PID it ends with that process.
  octant watch                           all of them
  octant watch 4711 --topic calls        the calls of one process
  octant watch --json | jq .topic        for scripts`,
  async run({ args: [pid], flags }, io) {
    if (pid !== undefined && !/^\d+$/.test(pid))
      throw new UsageError(`'${pid}' is not a process id`, "octant ps lists them");
    const show = (event: ControlEvent, from: number) => {
      if (flags.json) return void printJsonText(JSON.stringify({ pid: from, ...event }), io);
      const line = describeEvent(event);
      if (line !== undefined) print(`${toTime(event.at)}  ${from}  ${line}`, io);
    };
    const topics = flags.topic.length === 0 ? undefined : [...flags.topic];
    const stopped = Promise.withResolvers<void>();
    using _signals = onSignals(ENDING_SIGNALS, () => stopped.resolve());
    using following = await followProcesses(io.env, { pid, topics, retained: flags.retained }, show);
    const { closed } = following;
    if (pid !== undefined && closed.length === 0)
      throw new UsageError(`no Octant process ${pid} is running`, "octant ps lists them");
    if (!flags.json && closed.length === 0) note("no Octant process of yours is running yet; waiting", io);
    await Promise.race([stopped.promise, ...(pid === undefined ? [] : closed)]);
    return EXIT.OK;
  },
});

const toTime = (at: number): string => new Date(at).toTimeString().slice(0, 8);
