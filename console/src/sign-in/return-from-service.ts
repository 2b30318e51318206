import type { FactorKind, SecondFactor } from './sign-in-api.ts'

const REFUSALS = ['lost', 'refused', 'taken', 'closed', 'suspended'] as const
export type Refusal = (typeof REFUSALS)[number]

/** Reads the result of another service's sign-in from the fragment of the address. */
export type Return =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: Refusal }
  | { readonly kind: 'pending'; readonly second: SecondFactor; readonly returnTo: string | undefined }

const FACTORS: readonly FactorKind[] = ['totp', 'passkey', 'recovery_code']

export function readReturn(hash: string): Return {
  const told = new URLSearchParams(hash.replace(/^#/, ''))
  const challenge = told.get('challenge')
  if (challenge !== null) {
    const named = (told.get('factors') ?? '').split(',')
    const factors = FACTORS.filter((factor) => named.includes(factor))
    return {
      kind: 'pending',
      // Its expiry is not known here; the gateway rejects a late answer.
      second: { state: 'second_factor_required', challenge, factors, expires_at: '' },
      returnTo: told.get('return_to') ?? undefined,
    }
  }
  const why = REFUSALS.find((each) => each === told.get('error'))
  return why === undefined ? { kind: 'none' } : { kind: 'refused', why }
}
