import type { Statements } from './statements.ts'

/**
 * A full disk rolls the transaction back by itself; then there is nothing to roll back, and the earlier failure is
 * reported.
 */
export function rollBack(statements: Statements): void {
  try {
    statements.prepare('rollback').run()
  } catch (error) {
    if (!String(error).includes('no transaction is active')) throw error
  }
}
