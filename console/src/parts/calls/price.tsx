import type { LoggedCall } from './log-source.ts'
import table from '../lists/table.module.css'
import { classes } from '../marks/classes.ts'
import { Amount } from '../values/amount.tsx'
import { isZero } from '../values/decimal.ts'
import { useFormat } from '../values/format.ts'
import sheet from '../forms/sheet.module.css'
import styles from './call-sheet.module.css'
import { type PriceLine, priceLines, type Recipe, roundingOf } from './price-lines.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const CLASSES = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'output',
  'image',
  'video_second',
  'request',
  'character',
  'audio_second',
] as const

/** A column that is hidden on a phone. */
const FACTOR = classes(table.number, styles.factor)

/** The price as a sum, line by line: amount × price × chain × rate = Credits. */
export function Price({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { recipe } = call
  if (recipe === null || recipe.lines.length === 0) return null
  const lines = priceLines(recipe)
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('calls.price')}</h3>
        {recipe.currency !== null && (
          <span>
            {t('calls.perUnit', {
              currency: recipe.currency,
              credits: format.number(recipe.credits_per_unit, 6),
            })}
          </span>
        )}
      </div>
      <table className={classes(table.table, styles.price)} aria-label={t('calls.price')}>
        <PriceHead />
        <tbody>
          {lines.map((line) => (
            <Line key={line.name} line={line} recipe={recipe} />
          ))}
          <Sums call={call} amount={recipe.amount} rounding={roundingOf(recipe.amount, lines)} />
        </tbody>
      </table>
      <Notes call={call} />
    </section>
  )
}

interface SumsProps {
  readonly call: LoggedCall
  readonly amount: string
  /** undefined: the lines add up to the amount exactly. */
  readonly rounding: string | undefined
}

/** The sum of the lines, and the amount deducted if that is less. */
function Sums({ call: { deducted }, amount, rounding }: SumsProps) {
  const { t } = useTranslation()
  return (
    <>
      {rounding !== undefined && (
        <tr>
          <td colSpan={5} title={t('calls.roundingHint')}>
            {t('calls.rounding')}
          </td>
          <td className={table.number}>
            <Amount value={rounding} digits={6} />
          </td>
        </tr>
      )}
      <tr className={styles.sum}>
        <td colSpan={5}>{t('calls.sum')}</td>
        <td className={table.number}>
          <Amount value={amount} digits={6} />
        </td>
      </tr>
      {Number(deducted) !== Number(amount) && (
        <tr>
          <td colSpan={5}>{t('calls.taken')}</td>
          <td className={table.number}>
            <Amount value={deducted} digits={6} />
          </td>
        </tr>
      )}
    </>
  )
}

function PriceHead() {
  const { t } = useTranslation()
  return (
    <thead>
      <tr>
        <th>{t('calls.class')}</th>
        <th className={table.number}>{t('calls.quantity')}</th>
        <th className={FACTOR}>{t('calls.listPrice')}</th>
        <th className={FACTOR}>{t('calls.chainRate')}</th>
        <th className={FACTOR}>{t('calls.yourRate')}</th>
        <th className={table.number}>Credits</th>
      </tr>
    </thead>
  )
}

function Line({ line, recipe }: { readonly line: PriceLine; readonly recipe: Recipe }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { name, quantity, per, price, credits } = line
  const known = CLASSES.find((each) => each === name)
  const factors = [
    `× ${format.number(price, 6)}${per === undefined || per === 1 ? '' : ` / ${format.short(per)}`}`,
    // A surcharge by factor applies to the sum above, which contains these already.
    ...(quantity === undefined
      ? ['', '']
      : [
          `× ${format.number(recipe.rate_multiplier, 6)}`,
          `× ${format.percent(Number(recipe.user_rate) / 100, 2)}`,
        ]),
  ]
  return (
    <tr>
      <td>
        {known === undefined ? <code>{name}</code> : t(`classes.${known}`)}
        <span className={styles.factors}>{factors.join(' ')}</span>
      </td>
      <td className={table.number}>{quantity !== undefined && format.number(quantity, 6)}</td>
      {factors.map((factor, index) => (
        <td key={index} className={FACTOR}>
          {factor}
        </td>
      ))}
      <td className={table.number}>
        <Amount value={credits} digits={6} />
      </td>
    </tr>
  )
}

/** Why less than the sum was deducted, or what paid for it. */
function Notes({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const notes = [
    ...(call.free_reason === null ? [] : [t(`calls.free.${call.free_reason}`)]),
    ...(call.subscription_covered ? [t('calls.covered')] : []),
    ...(call.capped ? [t('calls.capped')] : []),
    ...(isZero(call.owed) ? [] : [t('calls.owed', { credits: call.owed })]),
    ...(call.usage_suspect === null ? [] : [t('calls.suspect')]),
  ]
  if (notes.length === 0) return null
  return <p className={sheet.note}>{notes.join(' · ')}</p>
}
