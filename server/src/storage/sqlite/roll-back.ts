import type { Statements } from './statements.ts'

/** A full disk has undone the transaction by itself; then there is none to roll back, and the failure before it stands. */
export function rollBack(statements: Statements): void {
  try {
    statements.prepare('rollback').run()
  } catch (error) {
    if (!String(error).includes('no transaction is active')) throw error
  }
}
