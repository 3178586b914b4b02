import { z } from "zod";

/** More wordings than this only repeat each other. */
const MAX_WORDINGS = 12;
const MAX_WORDING_CHARS = 200;

/** The question in other words. The caller is a language model, and knows more synonyms than any table. */
export const Also = z.array(z.string().min(1).max(MAX_WORDING_CHARS)).max(MAX_WORDINGS).optional();
