import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Runs the files of `test/` first: most of the long ones are there, and a long file that starts last keeps one worker
 * busy while the others have nothing left to do.
 */
export class CrossPackageFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isCross = ({ moduleId }: TestSpecification) => moduleId.startsWith(import.meta.dirname);
    return [...sorted.filter(isCross), ...sorted.filter((file) => !isCross(file))];
  }
}
