import { calc } from "./calc.ts";

console.log(calc(1, 2));
