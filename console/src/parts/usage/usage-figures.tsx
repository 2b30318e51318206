import { Figure } from '../charts/figure.tsx'
import page from '../page/page.module.css'
import { Amount } from '../values/amount.tsx'
import { useFormat } from '../values/format.ts'
import { type Row, shareOf, sumsOf } from './measures.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Totals of the period. */
export function UsageFigures({ rows }: { readonly rows: readonly Row[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { credits, calls, failed, input, cached, output } = sumsOf(rows)
  return (
    <div className={page.figures}>
      <Figure name="Credits" value={<Amount value={credits} />} note={t('usage.creditsNote')} />
      <Figure
        name={t('usage.measures.calls')}
        value={format.number(calls)}
        note={t('usage.failedNote', {
          failed: format.number(failed),
          share: format.percent(shareOf(failed, calls), 1),
        })}
      />
      <Figure
        name={t('usage.measures.tokens')}
        value={<span title={format.number(input + output)}>{format.short(input + output)}</span>}
        note={t('calls.tokensTitle', { input: format.short(input), output: format.short(output) })}
      />
      <Figure
        name={t('usage.measures.cached')}
        value={format.percent(shareOf(cached, input), 1)}
        note={t('usage.cachedNote', { count: cached, tokens: format.short(cached) })}
      />
    </div>
  )
}
