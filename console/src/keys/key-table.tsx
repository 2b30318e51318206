import type { Key, KeyLimits, NewKey } from '../api/keys.ts'
import { useActionsColumn } from '../parts/lists/columns.tsx'
import { type Column, DataTable } from '../parts/lists/data-table.tsx'
import table from '../parts/lists/table.module.css'
import { classes } from '../parts/marks/classes.ts'
import { Icon } from '../parts/marks/icon.tsx'
import tags from '../parts/marks/tag.module.css'
import { useFormat } from '../parts/values/format.ts'
import { KeyActions } from './key-actions.tsx'
import { KeyLimitBars } from './key-limits.tsx'
import type { KeyState } from './key-state.ts'
import styles from './keys.module.css'
import { useTranslation } from '../texts/use-translation.ts'

interface KeyTableProps {
  readonly keys: readonly Key[]
  readonly limitsOf: ReadonlyMap<string, KeyLimits>
  readonly states: ReadonlyMap<string, KeyState>
  readonly onOpen: (id: string) => void
  readonly onReady: (made: NewKey) => void
}

export function KeyTable({ keys, limitsOf, states, onOpen, onReady }: KeyTableProps) {
  const { t } = useTranslation()
  const isOff = (key: Key): boolean => ['disabled', 'expired'].includes(states.get(key.id) ?? '')
  const columns: readonly Column<Key>[] = [
    {
      id: 'name',
      head: t('keys.name'),
      cell: (key) => <Name of={key} state={states.get(key.id) ?? 'enabled'} />,
    },
    { id: 'models', head: t('pages.models'), wide: true, cell: (key) => <Models of={key} /> },
    {
      id: 'limits',
      head: t('keys.limits'),
      cell: (key) => <KeyLimitBars limits={limitsOf.get(key.id)} quiet={isOff(key)} />,
    },
    {
      id: 'used',
      head: t('keys.lastUse'),
      kind: 'muted',
      wide: true,
      cell: (key) => <LastUse at={limitsOf.get(key.id)?.last_used_at} />,
    },
    { id: 'expires', head: t('keys.expires'), wide: true, cell: (key) => <Expiry at={key.expires_at} /> },
    useActionsColumn<Key>((key) => <KeyActions of={key} onEdit={() => onOpen(key.id)} onReady={onReady} />),
  ]
  return (
    <DataTable
      label={t('pages.keys')}
      columns={columns}
      rows={keys}
      idOf={({ id }) => id}
      isQuiet={isOff}
      onChoose={({ id }) => onOpen(id)}
    />
  )
}

function Name({ of, state }: { readonly of: Key; readonly state: KeyState }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      <span className={styles.name}>
        <span className={table.chosen}>{of.name}</span>
        {state === 'disabled' && <span className={tags.tag}>{t('keys.states.disabled')}</span>}
        {state === 'limited' && (
          <span className={styles.state} data-tone="bad">
            <Icon name="paused" size={14} />
            {t('keys.states.limited')}
          </span>
        )}
      </span>
      <span className={classes(table.second, styles.hint)}>{of.hint}…</span>
      {of.former_valid_until !== null && (
        <span className={table.second}>
          {t('keys.formerUntil', { moment: format.recent(of.former_valid_until) })}
        </span>
      )}
    </>
  )
}

function Models({ of: { models, group } }: { readonly of: Key }) {
  const { t } = useTranslation()
  const text =
    models.length === 0 ? t(group === null ? 'keys.allModels' : 'keys.groupModels') : models.join(', ')
  return (
    <>
      <span className={styles.models} title={text}>
        {text}
      </span>
      {group !== null && <span className={table.second}>{t('keys.inGroup', { group })}</span>}
    </>
  )
}

function LastUse({ at }: { readonly at: string | null | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (at === undefined) return null
  return at === null ? t('keys.neverUsed') : <span title={format.moment(at)}>{format.ago(at)}</span>
}

/** Expiry is marked when it is this close. */
const NEAR_MS = 14 * 86_400_000

function Expiry({ at }: { readonly at: string | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (at === null) return <span className={table.muted}>{t('keys.never')}</span>
  const left = Date.parse(at) - Date.now()
  if (left > NEAR_MS) return <span className={table.muted}>{format.date(at)}</span>
  return (
    <span className={styles.state} data-tone={left <= 0 ? 'bad' : 'warn'} title={format.moment(at)}>
      <Icon name={left <= 0 ? 'failed' : 'clock'} size={14} />
      {left <= 0 ? t('keys.expired', { day: format.date(at) }) : format.date(at)}
    </span>
  )
}
