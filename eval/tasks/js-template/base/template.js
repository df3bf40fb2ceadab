// render fills the places {{name}} of a template with values.
export function render(template, values) {
  let out = template;
  for (const name of Object.keys(values)) {
    out = out.replace(`{{${name}}}`, values[name]);
  }
  return out;
}
