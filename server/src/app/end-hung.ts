/**
 * Ends a process whose storage hangs. A thread that is stuck in a system call keeps its process from exiting, so the
 * gateway is stopped as usual, which writes unsettled calls to a file, and then killed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/environment.ts'
import type { RunningGateway } from './start-gateway.ts'

/** Longer than an undisturbed stop takes. */
const AFTER_GRACE_MS = 15_000

interface HungProcess {
  readonly stop: () => Promise<void>
  /** Time the stop may take, ms. */
  readonly withinMs: number
  readonly kill: () => void
  readonly onError: (error: unknown) => void
  /** Resolves after this many ms, or rejects when it is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Never rejects. */
export async function endHung({ stop, withinMs, kill, onError, wait = waitFor }: HungProcess): Promise<void> {
  const patience = new AbortController()
  try {
    await Promise.race([stop(), wait(withinMs, patience.signal)])
  } catch (error) {
    onError(error)
  } finally {
    patience.abort()
    kill()
  }
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Options for starting a gateway in this process, so that it ends when its storage hangs. */
export function endedWhenHung(
  { drainDelayMs, shutdownGraceMs }: Pick<Config, 'drainDelayMs' | 'shutdownGraceMs'>,
  running: () => Pick<RunningGateway, 'stop'> | undefined,
): { onStorageHung(): void } {
  return {
    onStorageHung: () =>
      void endHung({
        stop: () => running()?.stop() ?? Promise.resolve(),
        withinMs: drainDelayMs + shutdownGraceMs + AFTER_GRACE_MS,
        kill: () => process.kill(process.pid, 'SIGKILL'),
        onError: (error) => process.stderr.write(`sluice could not stop cleanly: ${String(error)}\n`),
      }),
  }
}
