import type { Key, KeyLimits } from '../api/keys.ts'

/** Why a key cannot be used, the most important reason first; `enabled`: it can. */
export const KEY_STATES = ['enabled', 'limited', 'expired', 'disabled'] as const
export type KeyState = (typeof KEY_STATES)[number]

export function stateOf(key: Key, limits: KeyLimits | undefined, now: number): KeyState {
  if (key.status === 'disabled') return 'disabled'
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return 'expired'
  const isFull = limits?.windows.some(({ remaining }) => Number(remaining) === 0) === true
  return isFull ? 'limited' : 'enabled'
}
