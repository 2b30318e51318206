import { Button, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  type Credential,
  changeVendor,
  credentialsQuery,
  type Vendor,
  type VendorKind,
} from '../../api/operator/catalogue.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import form from '../../parts/forms/form.module.css'
import sheet from '../../parts/forms/sheet.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { CredentialForm } from './credential-form.tsx'
import { CredentialRow } from './credential-row.tsx'
import { VendorState } from './vendor-state.tsx'

interface VendorSheetProps {
  readonly of: Vendor
  readonly kinds: readonly VendorKind[]
  readonly onClose: () => void
}

const STATES = ['enabled', 'maintenance', 'disabled'] as const

/** One vendor: its address, its state, its credentials. */
export function VendorSheet({ of, kinds, onClose }: VendorSheetProps) {
  const { t } = useTranslation()
  const kind = kinds.find((each) => each.kind === of.kind)
  const [editing, edit] = useState<Credential | 'new'>()
  const credentials = useQuery(credentialsQuery)
  return (
    <Sheet title={of.name} onClose={onClose}>
      <p className={sheet.words}>
        <VendorState status={of.status} />
        <span>{kind?.name ?? of.kind}</span>
        <span>{t('vendors.usedBy', { count: of.chains })}</span>
      </p>
      <section className={sheet.part}>
        <div className={sheet.partHead}>
          <h3>{t('vendors.credentials')}</h3>
          <Button
            variant="subtle"
            size="xs"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => edit('new')}
          >
            {t('vendors.addCredential')}
          </Button>
        </div>
        <Loaded query={credentials} height={80}>
          {(all) => (
            <>
              {all
                .filter(({ vendor }) => vendor === of.code)
                .map((credential) => (
                  <CredentialRow key={credential.id} of={credential} onEdit={() => edit(credential)} />
                ))}
              {of.credentials.length === 0 && <p className={sheet.note}>{t('vendors.noCredentials')}</p>}
            </>
          )}
        </Loaded>
      </section>
      <Settings of={of} kind={kind} />
      {editing !== undefined && kind !== undefined && (
        <CredentialForm
          vendor={of.code}
          kind={kind}
          of={editing === 'new' ? undefined : editing}
          onClose={() => edit(undefined)}
        />
      )}
    </Sheet>
  )
}

function Settings({ of, kind }: { readonly of: Vendor; readonly kind: VendorKind | undefined }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm({
    initialValues: { name: of.name, base_url: of.base_url ?? '', status: of.status },
  })
  const { submit, isPending, problem } = useSubmit(values, {
    send: ({ name, base_url: address, status }) =>
      changeVendor(of.code, {
        name,
        base_url: address.trim() === '' ? null : address.trim(),
        status: STATES.find((each) => each === status) ?? 'enabled',
      }),
    onDone: (_, sent) => {
      values.resetDirty(sent)
      inBackground(queryClient.invalidateQueries({ queryKey: ['vendors'] }))
    },
  })
  return (
    <section className={sheet.part}>
      <h3>{t('vendors.settings')}</h3>
      <form noValidate className={form.stack} onSubmit={submit}>
        <div className={form.row}>
          <TextInput label={t('vendors.name')} {...values.getInputProps('name')} />
          <Select
            label={t('operate.state')}
            data={STATES.map((value) => ({ value, label: t(`vendors.states.${value}`) }))}
            {...values.getInputProps('status')}
          />
        </div>
        <TextInput
          label={t('vendors.address')}
          placeholder={kind?.base_url ?? 'https://'}
          {...values.getInputProps('base_url')}
        />
        <FormProblem text={problem} />
        <div className={form.foot}>
          <Button type="submit" variant="default" loading={isPending} disabled={!values.isDirty()}>
            {t('save')}
          </Button>
        </div>
      </form>
    </section>
  )
}
