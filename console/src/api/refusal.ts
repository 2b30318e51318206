/** The last refusal of an action that has no place of its own to show it, such as an item of a menu; the frame shows it. */
import { useSyncExternalStore } from 'react'
import { ApiError } from './api-error.ts'

/** `meta` of a mutation whose refusal the frame shows; the refusal of any other is shown where it was begun. */
export const REFUSED_IN_FRAME = { refusal: 'frame' } as const

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: { readonly refusal?: 'frame' }
  }
}

/** `id`: of the mutation. */
export interface Refusal {
  readonly id: number
  readonly error: unknown
}

let current: Refusal | undefined
const listeners = new Set<() => void>()

export function reportRefusal(refusal: Refusal): void {
  const { error } = refusal
  // The frame asks to sign in again.
  if (error instanceof ApiError && (error.isSignedOut || error.isSessionStale)) return
  set(refusal)
}

/** Before another try, or when it has been read. */
export function forgetRefusal(): void {
  set(undefined)
}

export function useRefusal(): Refusal | undefined {
  return useSyncExternalStore(subscribe, () => current)
}

function set(next: Refusal | undefined): void {
  if (next === current) return
  current = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
