import { useTranslation } from 'react-i18next'
import type { VendorKind } from '../../api/operator/catalogue.ts'
import { DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import operator from '../parts/operator.module.css'

/** Every kind that the gateway knows, with what each needs. */
export function Kinds({ all }: { readonly all: readonly VendorKind[] }) {
  const { t } = useTranslation()
  const needs = useNeeds()
  return (
    <DataTable
      label={t('vendors.tabs.kinds')}
      rows={all}
      idOf={({ kind }) => kind}
      columns={[
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
          cell: ({ protocols }) => <span className={operator.wrapped}>{protocols.join(', ')}</span>,
        },
        {
          id: 'address',
          head: t('vendors.address'),
          cell: ({ base_url: address }) => (
            <span className={operator.wrapped}>{address ?? t('vendors.ownAddress')}</span>
          ),
        },
        {
          id: 'needs',
          head: t('vendors.needs'),
          cell: (kind) => <span className={operator.wrapped}>{needs(kind)}</span>,
        },
      ]}
    />
  )
}

function useNeeds(): (kind: VendorKind) => string {
  const { t } = useTranslation()
  return ({ secret, fields }) => {
    const words = [
      ...(secret.need === 'none'
        ? []
        : [t(secret.form === 'key' ? 'vendors.key' : 'vendors.serviceAccount')]),
      ...fields.map(({ name, optional }) => (optional ? t('vendors.optional', { name }) : name)),
    ]
    return words.length === 0 ? t('vendors.nothing') : words.join(', ')
  }
}
