import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LIVE_MS } from '../../api/query-client.ts'
import { Loaded } from '../page/loaded.tsx'
import { Amount } from '../values/amount.tsx'
import { useFormat } from '../values/format.ts'
import styles from './call-log.module.css'
import { type LogFilter, type LogSource, sumOf } from './log-source.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface TotalsProps {
  readonly source: LogSource
  readonly filter: LogFilter
  /** False: the rows are on their way, and the gateway has nothing else to do meanwhile. */
  readonly enabled: boolean
}

/** The totals of all calls that match the filter, not only of those on the page. */
export function Totals({ source, filter, enabled }: TotalsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const totals = useQuery({
    ...sumOf(source, filter),
    enabled,
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={totals} height={44}>
      {({ calls, failed, tokens, deducted, complete }) => (
        <dl className={styles.totals} title={complete ? undefined : t('calls.incomplete')}>
          <Total name={t('calls.calls')} more={!complete}>
            {format.number(calls)}
          </Total>
          <Total name={t('calls.sumOfTokens')} more={!complete}>
            <span title={format.number(tokens)}>{format.short(tokens)}</span>
          </Total>
          <Total name="Credits" more={!complete}>
            <Amount value={deducted} />
          </Total>
          <Total name={t('calls.failed')} more={!complete}>
            {format.number(failed)}
          </Total>
        </dl>
      )}
    </Loaded>
  )
}

interface TotalProps {
  readonly name: string
  /** The totals do not include all matching calls. */
  readonly more: boolean
  readonly children: ReactNode
}

function Total({ name, more, children }: TotalProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}
        {more && '+'}
      </dd>
    </div>
  )
}
