import { ActionIcon, Button, Popover, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import form from '../forms/form.module.css'
import { Filter, Filters } from '../lists/filters.tsx'
import { type Change, choiceField } from '../lists/search-fields.ts'
import { Icon } from '../marks/icon.tsx'
import { type CallsSearch, DEFAULT_PERIOD, ENDINGS, FURTHER, PERIODS } from './filter.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface FurtherProps {
  readonly search: CallsSearch
  readonly onChange: (fields: Change<CallsSearch>) => void
}

interface CallFiltersProps extends FurtherProps {
  /** Ids to choose from. */
  readonly models: readonly string[]
  /** Absent: the log has no filter by key. */
  readonly keys?: readonly { readonly id: string; readonly name: string }[]
  /** Additional filters of this log. */
  readonly children?: ReactNode
}

export function CallFilters({ search, models: known, keys, children, onChange }: CallFiltersProps) {
  const { t } = useTranslation()
  const models = new Set([...known, ...(search.model === undefined ? [] : [search.model])])
  return (
    <Filters>
      <Filter
        always
        label={t('overview.period')}
        value={search.period ?? DEFAULT_PERIOD}
        options={PERIODS.map((value) => ({ value, label: t(`calls.periods.${value}`) }))}
        onChange={(value) => onChange({ period: choiceField(value, PERIODS) })}
      />
      <Filter
        label={t('calls.model')}
        value={search.model}
        options={[...models].sort().map((value) => ({ value, label: value }))}
        onChange={(model) => onChange({ model })}
      />
      {keys !== undefined && (
        <Filter
          label={t('calls.key')}
          value={search.key_id}
          options={keys.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(key_id) => onChange({ key_id })}
        />
      )}
      {children}
      <Filter
        label={t('calls.ending')}
        value={search.ending}
        options={ENDINGS.map((value) => ({ value, label: t(`calls.endings.${value}`) }))}
        onChange={(value) => onChange({ ending: choiceField(value, ENDINGS) })}
      />
      <Further search={search} onChange={onChange} />
    </Filters>
  )
}

/** Rarely used filters, behind one button. */
function Further({ search, onChange }: FurtherProps) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const inUse = FURTHER.some((name) => search[name] !== undefined)
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-start" width={300} trapFocus withRoles={false}>
      <Popover.Target>
        <ActionIcon
          variant="default"
          size="sm"
          aria-label={t('calls.further')}
          aria-expanded={open}
          data-on={inUse ? true : undefined}
          onClick={() => setOpen(!open)}
        >
          <Icon name="filter" />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={t('calls.further')} p={16}>
        <FurtherForm
          search={search}
          onChange={(fields) => {
            onChange(fields)
            setOpen(false)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

function FurtherForm({ search, onChange }: FurtherProps) {
  const { t } = useTranslation()
  return (
    <form
      className={form.stack}
      onSubmit={(event) => {
        event.preventDefault()
        const given = new FormData(event.currentTarget)
        onChange(
          Object.fromEntries(
            FURTHER.map((name) => {
              const value = given.get(name)
              return [name, typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined]
            }),
          ),
        )
      }}
    >
      {FURTHER.map((name) => (
        <TextInput
          key={name}
          size="xs"
          name={name}
          label={t(`calls.fields.${name}`)}
          defaultValue={search[name] ?? ''}
          {...(['status', 'cost_from', 'cost_to'].includes(name) ? { inputMode: 'decimal' as const } : {})}
        />
      ))}
      <div className={form.foot}>
        <Button
          variant="default"
          onClick={() => onChange(Object.fromEntries(FURTHER.map((name) => [name, undefined])))}
        >
          {t('clearFilters')}
        </Button>
        <Button type="submit">{t('calls.apply')}</Button>
      </div>
    </form>
  )
}
