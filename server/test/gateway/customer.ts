/** A customer at a console: an account, its session, and requests below `/api/v1/user/user/`. */
import type { AccountId, KeyId } from '../../src/core/ids.ts'
import { type MicroCredits, microCredits } from '../../src/core/money.ts'
import { type Answer, readAnswer } from './client.ts'
import type { TestGateway, NewAccount } from './gateway.ts'

export interface Customer {
  readonly id: AccountId
  readonly key: string
  readonly keyId: KeyId
  /** The session as bearer. */
  readonly headers: Record<string, string>
  /** `path` behind `/api/v1/user/user/`. With the session, unless `headers` say who asks. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** `data` of a good answer; anything else fails the test. */
  ask<Data = never>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Data>
}

export interface NewCustomer extends NewAccount {
  /** Yuan at 1000 Credits each. */
  readonly balanceYuan?: number
}

/** Puts an amount into the balance of an account, once. */
export async function topUp(gateway: TestGateway, id: AccountId, amount: MicroCredits): Promise<void> {
  await gateway.storage.ledger.book([
    {
      transactionId: `top-up:${id}`,
      sequence: 0,
      at: Date.now(),
      debit: 'platform/deposits',
      credit: `${id}/balance`,
      amount,
      kind: 'top-up',
      reference: undefined,
    },
  ])
}

export async function openCustomer(
  gateway: TestGateway,
  { balanceYuan = 0, ...account }: NewCustomer = {},
): Promise<Customer> {
  const made = await gateway.newAccount(account)
  const { headers } = await gateway.signIn(made.id)
  if (balanceYuan > 0) {
    await topUp(gateway, made.id, microCredits(BigInt(Math.round(balanceYuan * 1_000_000)) * 1_000n))
  }
  const send: Customer['send'] = async (method, path, body, own) =>
    readAnswer(
      await fetch(`${gateway.baseUrl}/api/v1/user/user/${path}`, {
        method,
        headers: {
          ...(own?.['authorization'] === undefined ? headers : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...own,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
  return {
    ...made,
    headers,
    send,
    async ask(method, path, body, own) {
      const answer = await send(method, path, body, own)
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      return answer.body.data as never
    },
  }
}
