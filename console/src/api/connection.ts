/** The state of the connection by the last answer: whether the gateway answers and the session is valid. */
import { useSyncExternalStore } from 'react'
import { ApiError } from './api-error.ts'

/** `session-stale`: a request needs a session that has just begun. */
export type Connection = 'live' | 'unreachable' | 'session-ended' | 'session-stale'

let current: Connection = 'live'
const listeners = new Set<() => void>()

/** `undefined`: a successful answer. */
export function reportAnswer(error: unknown): void {
  if (error instanceof ApiError && error.isSignedOut) set('session-ended')
  else if (error instanceof ApiError && error.isSessionStale) set('session-stale')
  else if (error instanceof ApiError && error.status === 0) set('unreachable')
  // A successful answer does not restore an ended session.
  else if (current === 'unreachable') set('live')
}

/** After signing in again, or when the person dismissed it. */
export function sessionBegan(): void {
  set('live')
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => current)
}

function set(next: Connection): void {
  if (next === current) return
  current = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
