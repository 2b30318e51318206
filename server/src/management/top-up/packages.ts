/** Packages sold at a fixed price. */
import { say } from '../../core/sentences/say.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import { minorDigits, toMinorUnits } from '../../core/top-up/minor-units.ts'
import type { AuditedChange } from '../../storage/stores/audit.ts'
import type { Storage } from '../../storage/storage.ts'
import type { TopUpPackage } from '../../storage/stores/top-ups.ts'
import { type Actor, done, type Done } from '../admin/acts.ts'
import { AMOUNT_MAX, AMOUNT_MIN, type Tariff } from './cashier.ts'
import { findWorthMistake, worthOf } from './redemption-codes.ts'

export async function putPackage(
  storage: Pick<Storage, 'audit'>,
  { offered, tariff }: { readonly offered: TopUpPackage; readonly tariff: Tariff },
  actor: Actor,
): Promise<Done<TopUpPackage>> {
  const mistakes = mistakesOf(offered, tariff.currency.toLowerCase())
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes }
  await storage.audit.act(async (stores) => {
    const before = await stores.topUps.packages.find(offered.code)
    await stores.topUps.packages.put(offered)
    const changes = changesOf(before, offered, tariff.creditsPerUnit)
    const action = before === undefined ? 'package.create' : 'package.change'
    const act = { at: actor.at, actor, action, subject: offered.code, changes }
    return { value: undefined, act: changes.length === 0 ? undefined : act }
  })
  return done(offered)
}

export function removePackage(
  storage: Pick<Storage, 'audit'>,
  code: string,
  actor: Actor,
): Promise<Done<{ readonly removed: true }>> {
  return storage.audit.act<Done<{ readonly removed: true }>>(async (stores) => {
    const before = await stores.topUps.packages.find(code)
    if (before === undefined) return { value: { kind: 'missing' }, act: undefined }
    await stores.topUps.packages.remove(code)
    const changes = [{ field: 'name', from: before.name, to: null }]
    return {
      value: done({ removed: true }),
      act: { at: actor.at, actor, action: 'package.remove', subject: code, changes },
    }
  })
}

export function viewPackage(
  { code, name, price, status, ...worth }: TopUpPackage,
  creditsPerUnit: DecimalText,
) {
  return { code, name, price, ...worthOf(worth, creditsPerUnit), status } as const
}

function mistakesOf({ price, amount, pool }: TopUpPackage, currency: string) {
  const bad = Number(price) < AMOUNT_MIN || Number(price) > AMOUNT_MAX
  const priceMistake = bad
    ? say('must-be-from-to', { least: AMOUNT_MIN, most: AMOUNT_MAX })
    : toMinorUnits(price, currency) === undefined
      ? say('at-most-decimals', { most: minorDigits(currency) })
      : undefined
  return [
    { path: 'price', message: priceMistake },
    { path: pool === 'credits' ? 'credits' : 'yuan', message: findWorthMistake(amount) },
  ].flatMap(({ path, message }) => (message === undefined ? [] : [{ path, message }]))
}

function changesOf(
  before: TopUpPackage | undefined,
  after: TopUpPackage,
  creditsPerUnit: DecimalText,
): readonly AuditedChange[] {
  const from = before === undefined ? undefined : viewPackage(before, creditsPerUnit)
  const to = viewPackage(after, creditsPerUnit)
  const fields = ['name', 'price', 'credits', 'yuan', 'status'] as const
  return fields
    .map((field) => ({ field, from: from?.[field] ?? null, to: to[field] }))
    .filter((change) => change.from !== change.to)
}
