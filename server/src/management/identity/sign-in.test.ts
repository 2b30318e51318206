import { expect, test } from 'vitest'
import { Secret } from '../../core/secret.ts'
import { hashPassword } from '../accounts/passwords.ts'
import { hasPassword } from './sign-in.ts'

/** What a hash costs stands in front of its salt. */
const costOf = (hash: string): string => hash.split('$').slice(0, 4).join('$')

test.each([
  ['that is not there', undefined],
  ['without a password', { passwordHash: undefined }],
])(
  'a guess at an account %s costs the same hash as one at an account with a password',
  async (_, account) => {
    const password = new Secret('a guess')
    const passwordHash = await hashPassword(new Secret('the right one'))
    const hashed: { readonly cost: string; readonly password: string }[] = []
    const verify = (hash: string, tried: Secret): Promise<boolean> => {
      hashed.push({ cost: costOf(hash), password: tried.unwrap() })
      return Promise.resolve(hash !== passwordHash)
    }
    expect(await hasPassword({ passwordHash }, password, verify)).toBe(false)
    expect(await hasPassword(account, password, verify)).toBe(false)
    const cost = { cost: costOf(passwordHash), password: 'a guess' }
    expect(hashed).toEqual([cost, cost])
  },
)
