import type { VendorKind } from '../../api/operator/catalogue.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { insteadOfSecret, useFieldName } from './credential-words.ts'
import operator from '../parts/operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Every kind that the gateway knows, with what each needs. */
export function Kinds({
  all,
  onChoose,
}: {
  readonly all: readonly VendorKind[]
  /** Starts adding a vendor of this kind. */
  readonly onChoose: (kind: VendorKind) => void
}) {
  const { t } = useTranslation()
  const columns = useColumns()
  return (
    <DataTable
      label={t('vendors.tabs.kinds')}
      rows={all}
      idOf={({ kind }) => kind}
      onChoose={onChoose}
      columns={columns}
    />
  )
}

function useColumns(): readonly Column<VendorKind>[] {
  const { t } = useTranslation()
  const needs = useNeeds()
  return [
    {
      id: 'name',
      head: t('vendors.kind'),
      cell: ({ name, kind }) => (
        <>
          <span className={table.first}>{name}</span>
          <span className={table.second}>
            <code>{kind}</code>
          </span>
        </>
      ),
    },
    {
      id: 'protocols',
      head: t('vendors.protocols'),
      kind: 'muted',
      wide: true,
      cell: ({ protocols }) => <span className={operator.wrapped}>{protocols.join(', ')}</span>,
    },
    {
      id: 'address',
      head: t('vendors.address'),
      wide: true,
      cell: ({ base_url: address }) => (
        <span className={operator.wrapped}>{address ?? t('vendors.ownAddress')}</span>
      ),
    },
    {
      id: 'needs',
      head: t('vendors.needs'),
      cell: (kind) => <span className={operator.wrapped}>{needs(kind)}</span>,
    },
  ]
}

function useNeeds(): (kind: VendorKind) => string {
  const { t } = useTranslation()
  const called = useFieldName()
  return (kind) => {
    const { secret, fields } = kind
    const choices = insteadOfSecret(kind)
    const key = t(secret.form === 'key' ? 'vendors.key' : 'vendors.serviceAccount')
    const first =
      choices.length > 0
        ? t('vendors.either', { one: key, other: choices.map(called).join(' + ') })
        : secret.need === 'optional'
          ? t('vendors.optional', { name: key })
          : key
    const words = [
      ...(secret.need === 'none' ? [] : [first]),
      ...fields
        .filter(({ name }) => !choices.includes(name))
        .map(({ name, optional }) =>
          optional ? t('vendors.optional', { name: called(name) }) : called(name),
        ),
    ]
    return words.length === 0 ? t('vendors.nothing') : words.join(', ')
  }
}
