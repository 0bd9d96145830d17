//! Projects written for the benches: the same files every time.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Modules that `index.ts` imports in one group.
const FAN_OUT: usize = 10;

/// Writes a project of about `count` modules into a folder: helpers with types and constants that import each other, and
/// one tool with Zod schemas for each ten of them.
pub fn of_modules(folder: &Path, count: usize) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("the folder can be written");
    write("package.json", "{}");
    let tools = count / (FAN_OUT + 1);
    let mut index = String::new();
    for tool in 0..tools {
        let mut imports = String::new();
        let mut sum = String::from("subtotal");
        for helper in 0..FAN_OUT {
            let name = format!("helper{tool}_{helper}");
            write(&format!("{name}.ts"), &helper_module(tool, helper));
            let _ = writeln!(imports, "import {{ rate as rate{helper}, apply as apply{helper} }} from './{name}.ts';");
            sum = format!("apply{helper}({sum}, rate{helper})");
        }
        write(&format!("tool{tool}.ts"), &tool_module(tool, &imports, &sum));
        let _ = writeln!(index, "export {{ tool{tool} }} from './tool{tool}.ts';");
    }
    write("index.ts", &index);
}

/// Changes one module of the project.
pub fn change(folder: &Path, generation: usize) {
    let text = format!("{}\nexport const generation = {generation};\n", helper_module(0, 0));
    fs::write(folder.join("helper0_0.ts"), text).expect("the folder can be written");
}

fn helper_module(tool: usize, helper: usize) -> String {
    let (import, next) = match helper {
        0 => (String::new(), "1".to_owned()),
        _ => (format!("import {{ rate as base }} from './helper{tool}_{}.ts';\n", helper - 1), "base".to_owned()),
    };
    let mut text = format!(
        "{import}export interface Line {{ readonly sku: string; readonly quantity: number; readonly unitPrice?: number }}\n\
         export enum Rounding {{ Up = 'up', Down = 'down' }}\n\
         export const rate: number = {next} + {helper} / 100;\n\
         export function apply(value: number, by: number): number {{ return value + by; }}\n"
    );
    for index in 0..10 {
        let _ = write!(
            text,
            "/** Adds up the lines of an invoice, rounded. */\n\
             export function total{index}(lines: readonly Line[], rounding: Rounding = Rounding.Up): number {{\n\
             \x20 let sum = {index};\n\
             \x20 for (const {{ quantity, unitPrice = 0 }} of lines) sum += quantity * unitPrice;\n\
             \x20 const cents = sum * 100;\n\
             \x20 return (rounding === Rounding.Up ? Math.ceil(cents) : Math.floor(cents)) / 100;\n\
             }}\n"
        );
    }
    text
}

fn tool_module(tool: usize, imports: &str, sum: &str) -> String {
    format!(
        "import {{ createTool }} from '@eigenpal/automations';\n\
         import {{ z }} from 'zod';\n\
         {imports}\n\
         export const tool{tool} = createTool({{\n\
         \x20 description: 'Adds up invoice number {tool}.',\n\
         \x20 inputSchema: z.object({{ subtotal: z.number().nonnegative(), lines: z.array(z.object({{ sku: z.string().min(1), \
         quantity: z.int().positive() }})).max(100).optional() }}),\n\
         \x20 outputSchema: z.strictObject({{ total: z.number() }}),\n\
         \x20 execute: ({{ subtotal }}) => ({{ total: {sum} }}),\n\
         }});\n"
    )
}
