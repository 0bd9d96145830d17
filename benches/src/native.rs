//! Native QuickJS (rquickjs 0.12, the version in the guest) with a fresh runtime and context for every call.

use rquickjs::loader::{BuiltinLoader, ImportAttributes, Resolver};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Module, Runtime};
use std::collections::HashMap;

/// What natively stands behind the built-in imports, for bundles that have them.
const SDK: &str = include_str!("../../guest/dist/sdk.js");
const AUTOMATIONS: &str = include_str!("../../guest/dist/automations.js");
const ZOD: &str = include_str!("../../guest/dist/zod.js");

/// What each module's specifiers mean; other specifiers are names of modules.
#[derive(Clone, Default)]
struct Imports(HashMap<(String, String), String>);

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        Ok(self.0.get(&(base.to_owned(), name.to_owned())).cloned().unwrap_or_else(|| name.to_owned()))
    }
}

/// A callback natively: its module, and how to find it there.
pub struct Native {
    modules: Vec<(String, String)>,
    imports: Imports,
    entry: String,
    export: &'static str,
}

/// A context that stays warm between calls.
pub struct Warm {
    _runtime: Runtime,
    context: Context,
    native: Native,
}

impl Native {
    /// A module whose export `export` is the function itself.
    pub fn function(source: &str, export: &'static str) -> Self {
        let modules = vec![("entry.js".into(), source.into())];
        Self { modules, imports: Imports::default(), entry: "entry.js".into(), export }
    }

    /// The modules of a bundle, and the function behind its callback `name`.
    pub fn tool(modules: &callcell_runtime::ModuleSet, name: &str) -> Self {
        let mut all: Vec<_> =
            modules.modules.iter().map(|module| (module.name.clone(), module.source.clone())).collect();
        for (builtin, source) in [("callcell:sdk", SDK), ("@eigenpal/automations", AUTOMATIONS), ("zod", ZOD)] {
            all.push((builtin.into(), source.into()));
        }
        let entry = format!(
            "import * as project from {:?};\nimport {{ harvest }} from 'callcell:sdk';\n\
             const {{ manifest, callbacks }} = harvest(project);\n\
             export const callback = callbacks[manifest.callbacks.findIndex((callback) => callback.name === {name:?})];",
            modules.entry
        );
        all.push(("measured".into(), entry));
        let imports = modules.modules.iter().flat_map(|module| {
            module.imports.iter().map(|(specifier, target)| ((module.name.clone(), specifier.clone()), target.clone()))
        });
        Self { imports: Imports(imports.collect()), modules: all, entry: "measured".into(), export: "callback" }
    }

    fn context(&self) -> (Runtime, Context) {
        let runtime = Runtime::new().expect("a runtime");
        let mut loader = BuiltinLoader::default();
        for (name, source) in &self.modules {
            loader = loader.with_module(name.as_str(), source.as_bytes().to_vec());
        }
        runtime.set_loader(self.imports.clone(), loader);
        let context = Context::full(&runtime).expect("a context");
        (runtime, context)
    }

    fn load<'js>(&self, ctx: &Ctx<'js>) -> Function<'js> {
        let source =
            self.modules.iter().find(|(name, _)| *name == self.entry).expect("the entry is a module").1.clone();
        let module = Module::declare(ctx.clone(), self.entry.as_str(), source).catch(ctx).expect("it parses");
        let (module, promise) = module.eval().catch(ctx).expect("it evaluates");
        promise.finish::<()>().catch(ctx).expect("it finishes");
        module.get(self.export).catch(ctx).expect("an export")
    }

    /// JSON in, JSON out, in a fresh runtime and context.
    pub fn call_fresh(&self, argument: &str) -> String {
        let (_runtime, context) = self.context();
        context.with(|ctx| call(&ctx, &self.load(&ctx), argument))
    }

    /// A context that has the modules loaded already.
    pub fn warm(self) -> Warm {
        let (runtime, context) = self.context();
        context.with(|ctx| {
            let function = self.load(&ctx);
            ctx.globals().set("callback", function).expect("a global");
        });
        Warm { _runtime: runtime, context, native: self }
    }
}

impl Warm {
    /// JSON in, JSON out, in the warm context.
    pub fn call(&self, argument: &str) -> String {
        let _ = &self.native;
        self.context.with(|ctx| {
            let function: Function = ctx.globals().get("callback").expect("the callback");
            call(&ctx, &function, argument)
        })
    }
}

fn call<'js>(ctx: &Ctx<'js>, function: &Function<'js>, argument: &str) -> String {
    let value = ctx.json_parse(argument).expect("the argument is JSON");
    let result: rquickjs::Value = function.call((value,)).catch(ctx).expect("the callback works");
    let text = ctx.json_stringify(result).expect("the result is JSON").expect("the result is not undefined");
    text.to_string().expect("the result is text")
}
