/** Idempotency keys: a request that is repeated because its outcome is unknown is carried out once. */
import { useRef } from 'react'

const BYTES = 16

/** The key of a request: the same key while the same request is repeated, a new one after it succeeded. */
export function useIdempotency() {
  const last = useRef<{ readonly asked: string; readonly key: string }>(undefined)
  return {
    header(asked: unknown): { 'Idempotency-Key': string } {
      const text = JSON.stringify(asked)
      if (last.current?.asked !== text) last.current = { asked: text, key: randomKey() }
      return { 'Idempotency-Key': last.current.key }
    },
    done(): void {
      last.current = undefined
    },
  }
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
