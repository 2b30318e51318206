import { join } from 'node:path'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { root } from '../project/tree.mjs'

/** Written from the table whose every green cell `conversion/protocol-matrix.test.ts` runs. */
export async function protocolMatrixPage() {
  const { matrixPage } = await loadTypeScript(join(root, 'server/test/matrix/cells.ts'))
  return matrixPage()
}
