import type { Config } from '../config/environment.ts'
import { startStorageThreads } from '../storage/start-ahead.ts'

/** Begins what a start waits for, so that it happens while the product's code is read: another core does it. */
export function startAhead({ database }: Pick<Config, 'database'>): void {
  if (database.kind === 'sqlite') startStorageThreads()
}
