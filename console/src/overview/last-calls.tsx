import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type Call, callsQuery } from '../api/calls.ts'
import { keysQuery } from '../api/keys.ts'
import { LIVE_MS } from '../api/query-client.ts'
import { useOrganisationId } from '../api/session.ts'
import { Cost } from '../parts/calls/cost.tsx'
import { Ending } from '../parts/calls/ending.tsx'
import table from '../parts/lists/table.module.css'
import { classes } from '../parts/marks/classes.ts'
import { Empty } from '../parts/page/empty.tsx'
import { Loaded } from '../parts/page/loaded.tsx'
import page from '../parts/page/page.module.css'
import { useFormat } from '../parts/values/format.ts'
import styles from './overview.module.css'

export const LAST_CALLS = 7

export function LastCalls() {
  const { t } = useTranslation()
  const calls = useQuery({
    ...callsQuery({ limit: LAST_CALLS }, useOrganisationId()),
    refetchInterval: LIVE_MS,
  })
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('overview.lastCalls')}</h2>
      </div>
      <div className={styles.callsPlace}>
        <Loaded query={calls} height={312}>
          {({ data: rows }) =>
            rows.length === 0 ? (
              <Empty icon="calls" title={t('overview.noCalls')}>
                {t('overview.noCallsHint')}
              </Empty>
            ) : (
              <CallTable rows={rows} />
            )
          }
        </Loaded>
      </div>
    </section>
  )
}

function CallTable({ rows }: { readonly rows: readonly Call[] }) {
  const { t } = useTranslation()
  const { data: keys = [] } = useQuery(keysQuery(useOrganisationId()))
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th className={table.wide}>{t('calls.time')}</th>
          <th>{t('calls.model')}</th>
          <th className={table.number}>Credits</th>
          <th className={classes(table.number, table.wide)}>{t('calls.took')}</th>
          <th className={table.wide}>{t('calls.ending')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((call) => (
          <CallRow
            key={call.request_id}
            call={call}
            keyName={call.key_id === null ? undefined : names.get(call.key_id)}
          />
        ))}
      </tbody>
    </table>
  )
}

function CallRow({ call, keyName }: { readonly call: Call; readonly keyName: string | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { model, model_requested: asked } = call
  const isOther = asked !== null && model !== null && asked !== model
  const facts = [
    ...(isOther ? [t('calls.asked', { model: asked })] : []),
    ...(keyName === undefined ? [] : [keyName]),
  ]
  const took = format.duration(call.duration_ms)
  return (
    <tr>
      <td className={classes(table.muted, table.wide)}>{format.recent(call.created_at)}</td>
      <td>
        <span className={table.first}>{model ?? asked ?? call.endpoint}</span>
        <span className={table.second}>{facts.join(' · ')}</span>
      </td>
      <td className={table.number}>
        <span className={table.first}>
          <Cost call={call} />
        </span>
        <span className={classes(table.second, table.phone)}>{took}</span>
      </td>
      <td className={classes(table.number, table.muted, table.wide)}>{took}</td>
      <td className={table.wide}>
        <Ending call={call} />
      </td>
    </tr>
  )
}
