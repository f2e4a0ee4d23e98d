/** Before the tests: the types and texts of the operations, so that none is tested against an older schema. */
import { generate } from './src/operations/generate.mjs';

export default generate;
