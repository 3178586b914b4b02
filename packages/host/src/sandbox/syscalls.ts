/** System calls that a sandboxed command may not use, as data. Numbers: [x64, arm64]; null where there is none. */

export const ARCHITECTURES = {
  x64: { column: 0, audit: 0xc000003e },
  arm64: { column: 1, audit: 0xc00000b7 },
} as const;
export type Architecture = keyof typeof ARCHITECTURES;

export type Numbers = readonly [x64: number | null, arm64: number | null];

export const EPERM = 1;
export const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Refused whatever the arguments are. */
export const REFUSED: Readonly<Record<string, Numbers>> = {
  // Other processes: the first one in the sandbox has no filter, so a process that could write into it would escape
  // the filter.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Mounts.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  setns: [308, 268],
  // Opening a file by its handle bypasses every mount.
  open_by_handle_at: [304, 265],
  // Keys belong to the user, not to the namespace.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Large parts of the kernel that builds and servers do not need.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  lookup_dcookie: [212, 18],
  // The machine as a whole.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  syslog: [103, 116],
  iopl: [172, null],
  ioperm: [173, null],
};

/** Answered as if the kernel did not know them, so that the C library takes the older call, whose flags can be seen. */
export const UNKNOWN: Readonly<Record<string, Numbers>> = { clone3: [435, 435] };

interface ArgumentRule {
  readonly numbers: Numbers;
  /** The number of the argument to inspect; only its lower 32 bits, as the kernel does for these calls. */
  readonly argument: number;
  /** `anyBit`: refused when one of these bits is set; `equals`: when it is one of these; `allBut`: when it is none of these. */
  readonly when:
    | { readonly anyBit: number }
    | { readonly equals: readonly number[] }
    | { readonly allBut: readonly number[] };
  readonly errno: number;
}

const CLONE_NEWUSER = 0x10000000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_VSOCK = 40;
/** Plain, 32-bit names, an old version number, both; without random addresses, as debuggers and sanitizers ask for; the question itself. */
const USUAL_PERSONALITIES = [0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff];

export const ARGUMENT_RULES: Readonly<Record<string, ArgumentRule>> = {
  unshare: { numbers: [272, 97], argument: 0, when: { anyBit: CLONE_NEWUSER }, errno: EPERM },
  clone: { numbers: [56, 220], argument: 0, when: { anyBit: CLONE_NEWUSER }, errno: EPERM },
  // Both inject characters into a terminal as if typed.
  ioctl: { numbers: [16, 29], argument: 1, when: { equals: [TIOCSTI, TIOCLINUX] }, errno: EPERM },
  personality: { numbers: [135, 92], argument: 0, when: { allBut: USUAL_PERSONALITIES }, errno: EPERM },
  // Sockets between a virtual machine and its host ignore network namespaces.
  socket: { numbers: [41, 198], argument: 0, when: { equals: [AF_VSOCK] }, errno: EAFNOSUPPORT },
};
