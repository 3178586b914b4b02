import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ToolError } from "@octant/core";
import { encodeFrames, encodeWavHeader, WAV_HEADER_BYTES } from "../audio/wav.ts";
import { type Output, RATE } from "./schemas.ts";

const CHANNELS = 2;

/** Where the mix goes. */
export interface Sink {
  readonly file?: string;
  write(channels: readonly Float32Array[], frames: number): void;
  close(): void;
}

export const openSink = (output: Output, folder: string, play_id: string, env: NodeJS.ProcessEnv): Sink =>
  output === "file" ? openFile(folder, play_id) : openDevice(env);

/** A WAV file; its header is written again with the true length at the end. */
function openFile(folder: string, play_id: string): Sink {
  mkdirSync(join(folder, "mixes"), { recursive: true, mode: 0o700 });
  const file = join(folder, "mixes", `${play_id}.wav`);
  const fd = openSync(file, "w", 0o600);
  let written = 0;
  writeSync(fd, encodeWavHeader(0, RATE, CHANNELS));
  return {
    file,
    write(channels, frames) {
      writeSync(fd, encodeFrames(channels, frames), 0, null, WAV_HEADER_BYTES + written * CHANNELS * 2);
      written += frames;
    },
    close() {
      writeSync(fd, encodeWavHeader(written, RATE, CHANNELS), 0, null, 0);
      closeSync(fd);
    },
  };
}

interface Player {
  readonly program: string;
  readonly args: readonly string[];
  /** Whether there is a device behind it. */
  hasDevice(env: NodeJS.ProcessEnv): boolean;
}

const inRuntimeFolder = (env: NodeJS.ProcessEnv, name: string) =>
  env["XDG_RUNTIME_DIR"] !== undefined && existsSync(join(env["XDG_RUNTIME_DIR"], name));

/** Programs that play raw samples from their input. */
const PLAYERS: readonly Player[] = [
  {
    program: "pw-cat",
    args: ["--playback", "--raw", "--format=s16", `--rate=${RATE}`, `--channels=${CHANNELS}`, "-"],
    hasDevice: (env) => inRuntimeFolder(env, "pipewire-0"),
  },
  {
    program: "pacat",
    args: ["--playback", "--raw", "--format=s16le", `--rate=${RATE}`, `--channels=${CHANNELS}`],
    hasDevice: (env) => env["PULSE_SERVER"] !== undefined || inRuntimeFolder(env, "pulse/native"),
  },
  {
    program: "aplay",
    args: ["-q", "-t", "raw", "-f", "S16_LE", "-r", String(RATE), "-c", String(CHANNELS)],
    hasDevice: () => existsSync("/dev/snd") && readdirSync("/dev/snd").some((name) => /^pcm.*p$/.test(name)),
  },
];

function openDevice(env: NodeJS.ProcessEnv): Sink {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const player = PLAYERS.find(
    ({ program, hasDevice }) => hasDevice(env) && folders.some((folder) => existsSync(join(folder, program))),
  );
  if (!player) {
    const programs = PLAYERS.map(({ program }) => program).join(", ");
    const how = `play with output 'file'; a sound device needs one of ${programs}, and the pack in Octant's own process (octant pack add --in-process), since the sandbox hides devices`;
    throw new ToolError("UNSUPPORTED", `no sound device was found here; ${how}`, {
      what: "sound device",
      how,
    });
  }
  const child: ChildProcess = spawn(player.program, player.args, {
    env,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // A player that dies makes playback silent; the transport continues, as it would with the volume at zero.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  return {
    write: (channels, frames) => void child.stdin?.write(encodeFrames(channels, frames)),
    close: () => void child.stdin?.end(),
  };
}
