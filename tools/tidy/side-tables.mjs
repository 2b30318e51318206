/**
 * State has an owner: what a call learns is on the call, what an instance remembers is in an object made at its start. A table
 * at the head of a module is shared by every instance and every test of a process, and no signature tells of it.
 */
import { lineOf, syntaxOf, typescript } from '../project/syntax.mjs'
import { isProductSource } from '../project/tree.mjs'

/** By file and name, each with the reason why one for the whole process is right. */
const ALLOWED = new Map([
  [
    'server/src/core/passthrough/span-reader.ts slab',
    'memory that small pieces are cut from; never used twice',
  ],
  ['server/src/core/passthrough/span-reader.ts slabUsed', 'how much of it is cut off'],
  ['server/src/core/pricing/price.ts known', 'decimals by their text: the same in, the same out'],
  [
    'server/src/management/identity/sign-in.ts nobody',
    'one hash that nobody’s password has; the same for all',
  ],
  [
    'server/src/management/new-id.ts last',
    'ids of one millisecond are counted by the process that makes them',
  ],
  ['server/src/management/new-id.ts taken', 'how much of the pool of random bytes is used up'],
  ['server/src/storage/sqlite/threads.ts idle', 'threads that wait for the next database of this process'],
  ['server/src/storage/sqlite/threads.ts idleMost', 'how many of them are kept'],
  ['server/src/storage/sqlite/worker.ts connection', 'a thread of its own, with one connection'],
  ['server/src/telemetry/process-metrics.ts registry', 'there is one process, so there is one collector'],
  [
    'server/src/upstream/credentials/auth.ts needlesCache',
    'forms of a secret, worked out from it alone, for as long as it lives',
  ],
])

const TABLES = ['Map', 'Set', 'WeakMap', 'WeakSet']

export function checkSideTables(tree) {
  return tree.files.filter(isProductSource).flatMap((file) => {
    const source = syntaxOf(tree, file)
    return source.statements
      .filter((statement) => typescript.isVariableStatement(statement))
      .flatMap(({ declarationList }) => declarationList.declarations)
      .filter(
        (declaration) => isMutable(declaration) && !ALLOWED.has(`${file} ${declaration.name.getText()}`),
      )
      .map((declaration) => ({
        file,
        line: lineOf(source, declaration),
        message: `${declaration.name.getText()} is state of the module; keep it on the call or in an object made at start, or say by its type that nothing changes it (ReadonlyMap, ReadonlySet)`,
      }))
  })
}

function isMutable({ parent, type, initializer }) {
  if ((parent.flags & typescript.NodeFlags.Const) === 0) return true
  if (initializer === undefined) return false
  if (typescript.isArrayLiteralExpression(initializer) && initializer.elements.length === 0)
    return !/^readonly |^Readonly/.test(type?.getText() ?? '')
  if (!typescript.isNewExpression(initializer) || !TABLES.includes(initializer.expression.getText()))
    return false
  return (
    initializer.expression.getText().startsWith('Weak') || !(type?.getText() ?? '').startsWith('Readonly')
  )
}
