import { Amount } from '../../parts/values/amount.tsx'
import { useFormat } from '../../parts/values/format.ts'
import table from '../../parts/lists/table.module.css'
import type { Earned } from './earned.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** The margin as a share of revenue, with the amount in Credits below. */
export function Margin({ of }: { readonly of: Earned | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (of === undefined || of.calls === 0) return '–'
  if (of.margin === undefined) {
    return (
      <span className={table.muted} title={t('catalogue.costUnknownHint')}>
        {t('catalogue.costUnknown')}
      </span>
    )
  }
  return (
    <>
      <span className={table.first}>{of.share === undefined ? '–' : format.percent(of.share, 1)}</span>
      <span className={table.second}>
        <Amount value={of.margin} />
      </span>
    </>
  )
}

export function Revenue({ of }: { readonly of: Earned | undefined }) {
  const { t } = useTranslation()
  if (of === undefined) return '–'
  return (
    <>
      <span className={table.first}>
        <Amount value={of.revenue} />
      </span>
      <span className={table.second}>{t('catalogue.calls', { count: of.calls })}</span>
    </>
  )
}
