/** How much of something was used until a moment: one number each. */
import type { Transaction } from 'kysely'
import type { Budget, BudgetStore } from '../../stores/identity.ts'
import type { Schema } from '../schema.ts'
import type { IdentityStoreOptions } from './options.ts'

export function createBudgetStore({ reader, write }: IdentityStoreOptions): BudgetStore {
  return {
    take: (budgets) =>
      write(async (transaction) => {
        const used = new Map<string, number>()
        for (const budget of inOrder(budgets)) used.set(budget.subject, await lockBudget(transaction, budget))
        const isLeft = budgets.every(({ subject, limit }) => (used.get(subject) ?? 0) < limit)
        if (!isLeft) return { value: undefined, changes: [] }
        for (const { subject } of budgets)
          await transaction
            .updateTable('message_budgets')
            .set((columns) => ({ used: columns('used', '+', 1n) }))
            .where('subject', '=', subject)
            .execute()
        return { value: budgets.map(({ subject }) => (used.get(subject) ?? 0) + 1), changes: [] }
      }),

    async used(subjects) {
      if (subjects.length === 0) return []
      const rows = await reader
        .selectFrom('message_budgets')
        .select(['subject', 'used'])
        .where('subject', 'in', subjects)
        .execute()
      const found = new Map(rows.map(({ subject, used }) => [subject, Number(used)]))
      return subjects.map((subject) => found.get(subject) ?? 0)
    },
  }
}

/** The same order everywhere, so that transactions cannot deadlock. */
function inOrder(budgets: readonly Budget[]): readonly Budget[] {
  return budgets.toSorted((one, other) => (one.subject < other.subject ? -1 : 1))
}

/** Locks the row, creating it if necessary. */
async function lockBudget(transaction: Transaction<Schema>, { subject, endsAt }: Budget): Promise<number> {
  const { used } = await transaction
    .insertInto('message_budgets')
    .values({ subject, used: 0, ends_at: endsAt })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet((columns) => ({ used: columns.ref('message_budgets.used') })),
    )
    .returning('used')
    .executeTakeFirstOrThrow()
  return Number(used)
}
