import { Button } from '@mantine/core'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { type AuditEntry, auditQuery, exportAudit } from '../../api/operator/audit.ts'
import { useTimeColumn } from '../../parts/lists/columns.tsx'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { classes } from '../../parts/marks/classes.ts'
import { present } from '../../parts/lists/search-fields.ts'
import table from '../../parts/lists/table.module.css'
import { save } from '../../parts/lists/download.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { shortId } from '../../parts/values/short-id.ts'
import { EntrySheet } from './entry-sheet.tsx'
import { Proof } from './proof.tsx'
import { AccountFilter } from '../parts/account-filter.tsx'
import { Find } from '../parts/find.tsx'
import { FoundList, rowsOf } from '../parts/found-list.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useFind } from '../parts/use-find.ts'
import { Requests } from './requests.tsx'
import styles from './trust.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

const ROWS = 50

/** The audit log, the check of the ledger, and pending verifications. */
export function TrustPage() {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const saving = useMutation({
    mutationFn: async () => save(await exportAudit(), 'audit.ndjson'),
  })
  return (
    <>
      <PageHead title={t('operate.pages.trust')} lead={t('trust.lead')}>
        <Button
          variant="default"
          loading={saving.isPending}
          leftSection={<Icon name="export" />}
          onClick={() => saving.mutate()}
        >
          {t('trust.export')}
        </Button>
      </PageHead>
      <FormProblem text={saving.error === null ? undefined : problemText(saving.error)} />
      <Proof />
      <Requests />
      <Log />
    </>
  )
}

function Log() {
  const { t } = useTranslation()
  const columns = useColumns()
  const [{ by, kind, find }, change] = useAddress()
  const isFiltered = by !== undefined || kind !== undefined || find !== undefined
  const audit = useInfiniteQuery(
    auditQuery({ limit: ROWS, ...present({ actor: by, action: kind, subject: useFind() }) }),
  )
  const rows = rowsOf(audit)
  return (
    <section>
      <h2 className={styles.log}>{t('trust.log')}</h2>
      <LogFilters seen={rows} />
      <FoundList
        query={audit}
        height={480}
        none={
          isFiltered
            ? { icon: 'book', title: t('trust.noneFit') }
            : { icon: 'book', title: t('trust.none'), hint: t('trust.noneHint') }
        }
        label={t('trust.log')}
        columns={columns}
        rows={rows}
        idOf={({ sequence }) => String(sequence)}
        sheet={({ row, close }) =>
          row !== undefined && (
            <EntrySheet
              of={row}
              onFollow={(subject) =>
                change({ find: subject, kind: undefined, by: undefined, open: undefined }, 'push')
              }
              onClose={close}
            />
          )
        }
      />
    </section>
  )
}

/** Filters by actor, action and subject; the actions offered are those of the rows read so far. */
function LogFilters({ seen }: { readonly seen: readonly AuditEntry[] }) {
  const { t } = useTranslation()
  const [{ by, kind, find }, change] = useAddress()
  const acts = [...seen.map(({ action }) => action), ...(kind === undefined ? [] : [kind])]
  const actions = [...new Set(acts)].sort()
  return (
    <Filters>
      <Find label={t('trust.find')} value={find} onChange={(text) => change({ find: text })} />
      <Filter
        label={t('operate.action')}
        value={kind}
        options={actions.map((value) => ({ value, label: value }))}
        onChange={(value) => change({ kind: value })}
      />
      <AccountFilter label={t('operate.by')} value={by} onChange={(id) => change({ by: id })} />
    </Filters>
  )
}

/** Changed fields shown in a row; the sheet shows all. */
const FIELDS_SHOWN = 2

const shortIds = (text: string): string => text.replace(/[a-z]+_[\da-f-]{32,}/g, shortId)

function shortList(changes: AuditEntry['changes']): string {
  const shown = changes.slice(0, FIELDS_SHOWN).map(({ field }) => shortIds(field))
  const more = changes.length - shown.length
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} +${more}`
}

function useColumns(): readonly Column<AuditEntry>[] {
  const { t } = useTranslation()
  const time = useTimeColumn<AuditEntry>(({ at }) => at)
  return [
    time,
    {
      id: 'action',
      head: t('operate.action'),
      cell: ({ action, actor }) => (
        <>
          <code>{action}</code>
          <span className={classes(table.second, table.phone)}>{actor.name}</span>
        </>
      ),
    },
    {
      id: 'who',
      head: t('operate.by'),
      wide: true,
      cell: ({ actor }) => <span className={table.chosen}>{actor.name}</span>,
    },
    {
      id: 'subject',
      head: t('trust.subject'),
      kind: 'muted',
      wide: true,
      cell: ({ subject }) => <code title={subject}>{shortIds(subject)}</code>,
    },
    {
      id: 'changes',
      head: t('trust.changes'),
      kind: 'muted',
      wide: true,
      cell: ({ changes }) => (
        <span title={changes.map(({ field }) => field).join(', ')}>{shortList(changes)}</span>
      ),
    },
  ]
}
