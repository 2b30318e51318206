import { useTranslation } from 'react-i18next'
import type { LoggedCall } from './log-source.ts'
import table from '../lists/table.module.css'
import { classes } from '../marks/classes.ts'
import { Amount } from '../values/amount.tsx'
import { isZero } from '../values/decimal.ts'
import { useFormat } from '../values/format.ts'
import sheet from '../forms/sheet.module.css'
import styles from './call-sheet.module.css'

type Recipe = NonNullable<LoggedCall['recipe']>
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

/** A column that has no room on a phone. */
const FACTOR = classes(table.number, styles.factor)

/** The price as a sum, line by line: amount × price × chain × rate = Credits. */
export function Price({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { recipe } = call
  if (recipe === null || recipe.lines.length === 0) return null
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
          {recipe.lines.map((line) => (
            <Line key={line.class} line={line} recipe={recipe} />
          ))}
          <Surcharges of={recipe} />
          <tr className={styles.sum}>
            <td colSpan={5}>{t('calls.sum')}</td>
            <td className={table.number}>
              <Amount value={recipe.amount} digits={6} />
            </td>
          </tr>
          {Number(call.deducted) !== Number(recipe.amount) && (
            <tr>
              <td colSpan={5}>{t('calls.taken')}</td>
              <td className={table.number}>
                <Amount value={call.deducted} digits={6} />
              </td>
            </tr>
          )}
        </tbody>
      </table>
      <Notes call={call} />
    </section>
  )
}

/** What made the call dearer as a whole. */
function Surcharges({ of }: { readonly of: Recipe }) {
  return of.surcharges?.map(({ name, multiplier, per_call, count }) => (
    <tr key={name}>
      <td colSpan={5}>{name}</td>
      <td className={table.number}>
        {multiplier === undefined ? `${count ?? 1} × ${per_call ?? ''}` : `× ${multiplier}`}
      </td>
    </tr>
  ))
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

function Line({ line, recipe }: { readonly line: Recipe['lines'][number]; readonly recipe: Recipe }) {
  const { t } = useTranslation()
  const format = useFormat()
  const known = CLASSES.find((each) => each === line.class)
  const per = line.per === 1 ? '' : ` / ${format.short(line.per)}`
  const factors = [
    `× ${format.number(line.price, 6)}${per}`,
    `× ${format.number(recipe.rate_multiplier, 6)}`,
    `× ${format.percent(Number(recipe.user_rate) / 100, 2)}`,
  ]
  return (
    <tr>
      <td>
        {known === undefined ? line.class : t(`classes.${known}`)}
        <span className={styles.factors}>{factors.join(' ')}</span>
      </td>
      <td className={table.number}>{format.number(line.quantity, 6)}</td>
      {factors.map((factor, index) => (
        <td key={index} className={FACTOR}>
          {factor}
        </td>
      ))}
      <td className={table.number}>
        <Amount value={creditsOf(line, recipe)} digits={6} />
      </td>
    </tr>
  )
}

/** What one line comes to; the sum below is the gateway's own, to the last digit. */
function creditsOf({ quantity, price, per }: Recipe['lines'][number], recipe: Recipe): string {
  const yuan = (quantity / per) * Number(price)
  const rate = Number(recipe.rate_multiplier) * (Number(recipe.user_rate) / 100)
  return (yuan * Number(recipe.credits_per_unit) * rate).toFixed(6)
}

/** Why less was taken than the sum, or from where. */
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
