import { Select, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { pricingQuery } from '../../api/models.ts'
import { ownCredentialsQuery, putOwnCredential } from '../../api/own-credentials.ts'
import { useOrganisationId } from '../../api/session.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { PasswordField } from '../../parts/identity/password-field.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { Note } from '../../parts/page/problem.tsx'
import { fieldsOf } from './credential-fields.ts'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

/** Adds an own vendor key: a secret, or several fields for vendors that sign requests. */
export function OwnCredentialDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const { data: offers = [] } = useQuery(pricingQuery(useOrganisationId()))
  const vendors = new Map(offers.map(({ vendor_code, vendor_name }) => [vendor_code, vendor_name]))
  const { form, submit, isPending, problem } = useCredential(onClose)
  return (
    <Dialog onClose={onClose} title={t('settings.addOwn')}>
      <FormFrame sending={{ submit, isPending, problem }} onClose={onClose}>
        <Select
          label={t('settings.vendor')}
          searchable
          data={[...vendors].map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('vendor')}
        />
        <Segments
          aria-label={t('settings.credentialKind')}
          data={(['secret', 'fields'] as const).map((value) => ({
            value,
            label: t(`settings.credentialKinds.${value}`),
          }))}
          {...form.getInputProps('kind')}
        />
        {form.values.kind === 'secret' ? (
          <PasswordField label={t('settings.secret')} autoComplete="off" {...form.getInputProps('secret')} />
        ) : (
          <Textarea
            label={t('settings.credentialKinds.fields')}
            description={t('settings.fieldsHint')}
            placeholder={'access_key = …\nsecret_key = …'}
            autosize
            minRows={3}
            spellCheck={false}
            {...form.getInputProps('fields')}
          />
        )}
        <Note tone="info">{t('settings.neverShown')}</Note>
      </FormFrame>
    </Dialog>
  )
}

function useCredential(onClose: () => void) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const form = useForm({
    initialValues: { vendor: '', kind: 'secret', secret: '', fields: '' },
    validate: {
      vendor: (vendor) => (vendor === '' ? t('settings.vendorWanted') : null),
      secret: (secret, { kind }) => (kind === 'secret' && secret === '' ? t('settings.secretWanted') : null),
      fields: (fields, { kind }) =>
        kind === 'fields' && fieldsOf(fields) === undefined ? t('settings.fieldsWanted') : null,
    },
  })
  const sending = useSubmit(form, {
    send: ({ vendor, kind, secret, fields }) =>
      putOwnCredential(
        vendor,
        kind === 'secret' ? { secret } : { fields: fieldsOf(fields) ?? {} },
        organisation,
      ),
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: ownCredentialsQuery(organisation).queryKey }))
      onClose()
    },
  })
  return { form, ...sending }
}
