/**
 * The end of a process whose storage hangs. A thread that is stuck in the system keeps its process from exiting, so this
 * one is stopped as usual, which writes what is not settled into a file, and then killed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/environment.ts'
import type { RunningGateway } from './start-gateway.ts'

/** Longer than a stop takes that is not held up by anything. */
const AFTER_GRACE_MS = 15_000

interface HungProcess {
  readonly stop: () => Promise<void>
  /** ms the stop may take. */
  readonly withinMs: number
  readonly kill: () => void
  readonly onError: (error: unknown) => void
  /** Resolves after so many ms, or rejects when it is aborted. */
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

/** What a gateway of this process is started with, so that it does not outlive its storage. */
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
