import type { Kysely } from 'kysely'
import { createMonthOf } from '../../../core/calendar.ts'
import { readSettings } from '../catalogue/settings.ts'
import type { Schema } from '../schema.ts'

const monthOf = createMonthOf()

/** First instant of the calendar month of `at` in the platform's time zone, epoch ms. */
export async function readMonthStart(database: Kysely<Schema>, at: number): Promise<number> {
  const { timezone } = await readSettings(database)
  return monthOf(at, timezone).from
}
