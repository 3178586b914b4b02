/** Apart from the reader, whose library is loaded only in the thread that needs it. */
export const MAX_SOUNDFONT_BYTES = 512 * 1024 * 1024;
