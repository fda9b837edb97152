//! From a row's kind of access to the call of its handler. What is authorized becomes part of the call as a proof that
//! carries its key; a handler of another kind of access does not compile.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use futures::future::BoxFuture;
use heddle_api::operations::{Operation, OperationId, ops};
use heddle_api::operations::{decode_path, decode_query};
use heddle_api::{ApiError, ErrorCode};
use heddle_identity::Authenticated;
use heddle_kernel::{RunId, TenantId, UserId};
use heddle_policy::capability::{DocumentCreate, Lists};
use heddle_policy::resource::{
    Case, DeadLetter, Deployment, Document, IngestionJob, Job, Place as _, ResourceId as _, Run, Within,
};
use heddle_policy::{
    Access, AccessFilter, Authorized, AuthorizedEither, Capability, DenialError, InstanceKey, Key, OnEither,
    OnKind, OnKindWithin, OnList, OnListWithin, OnLoaded, OnNamed, OnOne, OnSome, Ownership, PlaceOf, Public,
    Reason, RequestContext, Resource, ResourceType, SignedIn,
};
use heddle_usecase::UseCaseError;

use crate::app::App;
use crate::audit::Asked;
use crate::call::{Call, FirstAnswer, PublicCall, SessionCall};
use crate::failure::Failure;
use crate::gate;
use crate::incoming::{Incoming, parameter};
use crate::reply::{HandlerResult, Response};
use crate::upload::Uploading;

/// A handler with its operation's types taken away.
pub(crate) type Handler =
    Arc<dyn Fn(Arc<App>, Incoming, Option<Authenticated>) -> BoxFuture<'static, HandlerResult> + Send + Sync>;

/// Binds an operation to its handler.
pub(crate) fn bind<O: Operation>(handler: impl Handles<CallOf<O>>) -> Handler
where
    O::Access: Admit<O>,
{
    Arc::new(move |app, incoming, caller| {
        // The request is moved from step to step: as a pointer, and not with all that it holds.
        let request = Box::new(Request { app, incoming, caller, operation: PhantomData });
        Box::pin(<O::Access as Admit<O>>::admit(handler.clone(), request))
    })
}

/// Type of the call that the handler of an operation takes.
pub(crate) type CallOf<O> = <<O as Operation>::Access as Admit<O>>::Call;

/// A function that handles calls.
pub(crate) trait Handles<Call>: Clone + Send + Sync + 'static {
    /// Handles one.
    fn handle(&self, call: Call) -> impl Future<Output = HandlerResult> + Send;
}

impl<Call, F, R> Handles<Call> for F
where
    F: Fn(Call) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = HandlerResult> + Send,
{
    fn handle(&self, call: Call) -> impl Future<Output = HandlerResult> + Send {
        self(call)
    }
}

/// Admission of callers to operations of one kind of access.
pub(crate) trait Admit<O: Operation>: Access {
    /// Type of the call that its handler takes.
    type Call: Send + 'static;

    /// Lets a caller in, and has the handler answer.
    fn admit<H: Handles<Self::Call>>(
        handler: H,
        request: Box<Request<O>>,
    ) -> impl Future<Output = HandlerResult> + Send + 'static;
}

/// Finds what a call is about where only a row tells it.
pub(crate) trait Locate: Operation {
    /// The kind of thing.
    type Thing: Resource;

    /// The key of the thing; `NotFound` when there is none.
    fn locate(
        app: &App,
        tenant: TenantId,
        path: &Self::Path,
    ) -> impl Future<Output = Result<Key<Self::Thing>, UseCaseError>> + Send;

    /// Whether this user has done it already, which is why the thing is gone: the repeat is answered alike.
    fn done_before(
        _app: &App,
        _tenant: TenantId,
        _by: UserId,
        _path: &Self::Path,
    ) -> impl Future<Output = Result<bool, UseCaseError>> + Send {
        std::future::ready(Ok(false))
    }
}

/// Finds the instance, a run or a case, that what a call names belongs to.
pub(crate) trait LocateInstance: Operation {
    /// Whether things of the operation may name callers, which is as good as an allow; any deny overrides it.
    const NAMES: bool = false;

    /// The key of the instance; `NotFound` when there is none.
    fn locate(
        app: &App,
        tenant: TenantId,
        path: &Self::Path,
    ) -> impl Future<Output = Result<InstanceKey, UseCaseError>> + Send;

    /// Whether the thing names the caller.
    fn names(
        app: &App,
        caller: &Authenticated,
        path: &Self::Path,
    ) -> impl Future<Output = Result<bool, UseCaseError>> + Send;
}

/// A human task is authorized by its run, or by its case.
macro_rules! locate_tasks {
    ($($operation:ident $names:literal)+) => {$(
        impl LocateInstance for ops::$operation {
            const NAMES: bool = $names;

            async fn locate(app: &App, tenant: TenantId, path: &Self::Path) -> Result<InstanceKey, UseCaseError> {
                app.runs.task_instance(tenant, path.task_id).await
            }

            async fn names(app: &App, caller: &Authenticated, path: &Self::Path) -> Result<bool, UseCaseError> {
                app.runs.task_names(caller.snapshot.tenant(), path.task_id, &caller.principal).await
            }
        }
    )+};
}

locate_tasks! { GetHumanTask true CompleteTaskById false AssignHumanTask false }

/// A case stands within its case type, which its path does not name.
macro_rules! locate_cases {
    ($($operation:ident)+) => {$(
        impl Locate for ops::$operation {
            type Thing = Case;

            async fn locate(app: &App, tenant: TenantId, path: &Self::Path) -> Result<Key<Case>, UseCaseError> {
                app.cases.key_of(tenant, path.case_id).await
            }
        }
    )+};
}

locate_cases! { GetCase ListCaseEvents ChangePlanItem ChangeCase PutCaseFileItem }

/// An ingestion job stands within its vector database, which its path does not name.
macro_rules! locate_ingestion_jobs {
    ($($operation:ident)+) => {$(
        impl Locate for ops::$operation {
            type Thing = IngestionJob;

            async fn locate(
                app: &App,
                tenant: TenantId,
                path: &Self::Path,
            ) -> Result<Key<IngestionJob>, UseCaseError> {
                let job = app.vectors.jobs.locate(tenant, path.job_id).await?;
                Ok(Key::of_stored(tenant, job.id, Within::of(job.database_name)))
            }
        }
    )+};
}

locate_ingestion_jobs! { CancelIngestionJob GetIngestionJob ListIngestionServers }

impl Locate for ops::RetryDeadLetter {
    type Thing = DeadLetter;

    async fn locate(app: &App, tenant: TenantId, path: &Self::Path) -> Result<Key<DeadLetter>, UseCaseError> {
        app.runs.dead_letter_key(tenant, path.dead_letter_id).await
    }
}

impl Locate for ops::DropDeadLetter {
    type Thing = DeadLetter;

    async fn locate(app: &App, tenant: TenantId, path: &Self::Path) -> Result<Key<DeadLetter>, UseCaseError> {
        app.runs.dead_letter_key(tenant, path.dead_letter_id).await
    }

    async fn done_before(
        app: &App,
        tenant: TenantId,
        by: UserId,
        path: &Self::Path,
    ) -> Result<bool, UseCaseError> {
        app.runs.has_dropped_dead_letter(tenant, by, path.dead_letter_id).await
    }
}

/// Finds what a call is about where only its body names it.
pub(crate) trait Named: Operation {
    /// The kind of thing.
    type Thing: Resource;

    /// The key of the thing among those that the caller may reach; `NotFound` when there is none.
    fn locate(
        app: &App,
        tenant: TenantId,
        access: &AccessFilter<Self::Thing>,
        body: &Self::Body,
    ) -> impl Future<Output = Result<Key<Self::Thing>, UseCaseError>> + Send;
}

/// Authorization of what asks a model, or about one: by the deployment that the body names.
macro_rules! name_deployments {
    ($($operation:ident)+) => {$(
        impl Named for ops::$operation {
            type Thing = Deployment;

            async fn locate(
                app: &App,
                tenant: TenantId,
                _access: &AccessFilter<Deployment>,
                body: &Self::Body,
            ) -> Result<Key<Deployment>, UseCaseError> {
                let id = app.models.gateway.find(tenant, &body.request.model).await?;
                Ok(Key::of_stored(tenant, id, ()))
            }
        }
    )+};
}

name_deployments! {
    Chat CreateEmbeddings CreateChatCompletion CreateOpenAiEmbeddings CreateMessage CountMessageTokens
}

/// A job is authorized by its type, and by the run and workflow that it stands within.
macro_rules! locate_jobs {
    ($($operation:ident)+) => {$(
        impl Locate for ops::$operation {
            type Thing = Job;

            async fn locate(app: &App, tenant: TenantId, path: &Self::Path) -> Result<Key<Job>, UseCaseError> {
                app.runs.job_key(tenant, path.job_id).await
            }
        }
    )+};
}

locate_jobs! { CompleteJob FailJob ThrowJobError ExtendJob }

/// Whether a thing is the caller's own, where that decides.
async fn ownership<C: Capability>(
    app: &App,
    caller: &Authenticated,
    key: &Key<C::On>,
) -> Result<Ownership, Failure> {
    // Of other kinds nobody knows whose they are: a rule about one's own gives nothing of them, and takes all.
    if <C::On as Resource>::TYPE != ResourceType::Run || !caller.snapshot.depends_on_ownership::<C>(key) {
        return Ok(Ownership::Unknown);
    }
    match RunId::of_rule(&key.id().rule_id()) {
        Some(run) => Ok(app.runs.owned(&caller.snapshot, run).await?),
        None => Ok(Ownership::Unknown),
    }
}

/// A request of an operation, before it is let in.
pub(crate) struct Request<O> {
    app: Arc<App>,
    incoming: Incoming,
    caller: Option<Authenticated>,
    operation: PhantomData<fn() -> O>,
}

impl<O: Operation> Request<O> {
    fn caller(&self) -> Result<&Authenticated, Failure> {
        let unknown = || ApiError::new(ErrorCode::AuthenticationRequired).into();
        self.caller.as_ref().ok_or_else(unknown)
    }

    /// A refusal, written to the audit log.
    fn refused(&self, denial: &DenialError) -> Failure {
        let failure = gate::denied(O::ID.spec(), denial);
        self.asked().refused(&self.app, &failure);
        failure
    }

    fn asked(&self) -> Asked<'_> {
        let (facts, path) = (&self.incoming.facts, &self.incoming.path);
        Asked { spec: O::ID.spec(), facts, caller: self.caller.as_ref(), path }
    }

    /// Place that the path claims for the row's thing, or list.
    fn place<R: Resource>(&self) -> Option<PlaceOf<R>> {
        let within = O::ID.spec().selector().within().iter();
        PlaceOf::<R>::read(within.map(|name| parameter(&self.incoming.path, name).unwrap_or_default()))
    }

    /// The id that the path names.
    fn id<R: Resource>(&self) -> Option<R::Id> {
        R::Id::read(parameter(&self.incoming.path, O::ID.spec().selector().parameter()?)?)
    }

    fn path(&self) -> Result<O::Path, Failure> {
        Ok(decode_path::<O>(|name| parameter(&self.incoming.path, name))?)
    }

    /// An id that can't be one: who may not do it to all of the kind learns nothing from it.
    fn misspelt<C: Capability>(&self) -> Result<Failure, Failure> {
        let may = self.caller()?.snapshot.authorize_kind::<C>();
        may.map(|_| Failure::not_found()).map_err(|denial| self.refused(&denial))
    }

    /// There is no such thing, which is told after what is wrong with the query or the body.
    fn absent(&self) -> Failure {
        self.sent().err().unwrap_or_else(Failure::not_found)
    }

    /// Fault of the query or the body.
    fn sent(&self) -> Result<(), Failure> {
        let query = decode_query::<O>(&self.incoming.query).map(|_| ()).map_err(Failure::from);
        query.and_then(|()| gate::body::<O>(O::ID.spec(), &self.incoming).map(|_| ()))
    }

    /// The kept answer to this very call of the caller's, where there is one.
    async fn kept(&self) -> Result<Option<FirstAnswer>, Failure> {
        let (spec, caller) = (O::ID.spec(), self.caller()?);
        let context = caller.context(self.incoming.facts.clone());
        let mut meta = gate::meta(spec, &self.incoming)?;
        gate::replay(&self.app, spec, &context, &self.incoming, &mut meta).await
    }

    /// Stores the files of an upload, which stand for its body from here on: a repeat is told by their digests. Gives whether
    /// they are kept; those of a repeat are not.
    async fn stage(&mut self) -> Result<bool, Failure> {
        let Some(upload) = self.incoming.upload.clone() else { return Ok(true) };
        let place = self.place::<Document>().ok_or_else(Failure::not_found)?;
        let (app, caller) = (&*self.app, self.caller()?);
        let context = caller.context(self.incoming.facts.clone());
        let authorized = caller.snapshot.authorize_kind_within::<DocumentCreate>(place);
        let authorized = authorized.map_err(|denial| self.refused(&denial))?;
        let is_repeat = gate::is_known(app, O::ID.spec(), &context, &self.incoming).await?;
        let call = Uploading { app, authorized: &authorized, context: &context, is_repeat };
        let staged = upload.stage(call).await?;
        self.incoming.body = staged.body;
        self.incoming.identity = Some(staged.identity);
        Ok(staged.is_kept)
    }

    /// Runs the steps behind the proof: the kept answer of a repeat, decoding, the handler.
    async fn run<H>(self: Box<Self>, handler: H, authorized: <O::Access as Access>::Proof) -> HandlerResult
    where
        H: Handles<Call<O>>,
    {
        self.run_with(handler, authorized, None).await
    }

    /// The same with the body, where it was read to find what the call is about.
    async fn run_with<H>(
        mut self: Box<Self>,
        handler: H,
        authorized: <O::Access as Access>::Proof,
        body: Option<O::Body>,
    ) -> HandlerResult
    where
        H: Handles<Call<O>>,
    {
        let is_kept = self.stage().await.inspect_err(|failure| self.asked().failed(&self.app, failure))?;
        let (spec, caller) = (O::ID.spec(), self.caller()?);
        let facts = self.incoming.facts.clone();
        let context = RequestContext::of_caller(&caller.snapshot, caller.principal.clone(), facts);
        let mut meta = gate::meta(spec, &self.incoming)?;
        if let Some(known) = gate::replay(&self.app, spec, &context, &self.incoming, &mut meta).await? {
            // A start that waits waits again, for the same run.
            if spec.id != OperationId::StartRun {
                return Ok(known.again());
            }
            meta.first = Some(known);
        }
        if !is_kept {
            let message = "The answer under the key is not kept any more; upload the files again.";
            return Err(Failure::because(ErrorCode::StateConflict, "keyExpired", message));
        }
        let call = Call::<O> {
            path: self.path()?,
            query: decode_query::<O>(&self.incoming.query)?,
            body: body.map_or_else(|| gate::body::<O>(spec, &self.incoming), Ok)?,
            app: Arc::clone(&self.app),
            context: context.clone(),
            authorized,
            meta: meta.clone(),
        };
        match Box::pin(handler.handle(call)).await {
            // Two calls with one key met, and the slower one ran into what the faster one made: a slug that is
            // taken, a task that is done, the key itself. It finds the faster one's answer.
            Err(failure) if meta.idempotency.is_some() && failure.error.code == ErrorCode::StateConflict => {
                let first = gate::replay(&self.app, spec, &context, &self.incoming, &mut meta).await?;
                first.map(FirstAnswer::again).ok_or(failure)
            }
            other => other.inspect_err(|failure| self.asked().failed(&self.app, failure)),
        }
    }
}

impl<O: Operation<Access = Self>> Admit<O> for Public {
    type Call = PublicCall<O>;

    async fn admit<H: Handles<PublicCall<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let (spec, incoming) = (O::ID.spec(), request.incoming);
        let (app, facts) = (Arc::clone(&request.app), incoming.facts.clone());
        let call = PublicCall::<O> {
            path: decode_path::<O>(|name| parameter(&incoming.path, name))?,
            query: decode_query::<O>(&incoming.query)?,
            meta: gate::meta(spec, &incoming)?,
            body: gate::body::<O>(spec, &incoming)?,
            headers: incoming.headers.all,
            raw_query: incoming.query,
            facts: incoming.facts,
            app: request.app,
        };
        let asked = Asked { spec, facts: &facts, caller: None, path: &incoming.path };
        handler.handle(call).await.inspect_err(|failure| asked.failed(&app, failure))
    }
}

impl<O: Operation<Access = Self>> Admit<O> for SignedIn {
    type Call = SessionCall<O>;

    async fn admit<H: Handles<SessionCall<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let own = request.caller()?.snapshot.authorize_own();
        own.map_err(|denial| request.refused(&denial))?;
        let path = request.path()?;
        let Request { app, incoming, caller: Some(caller), .. } = *request else {
            return Err(ApiError::new(ErrorCode::AuthenticationRequired).into());
        };
        let spec = O::ID.spec();
        let context = caller.context(incoming.facts.clone());
        let mut meta = gate::meta(spec, &incoming)?;
        if let Some(first) = gate::replay(&app, spec, &context, &incoming, &mut meta).await? {
            return Ok(first.again());
        }
        let (service, known) = (Arc::clone(&app), caller.clone());
        let call = SessionCall::<O> {
            path,
            query: decode_query::<O>(&incoming.query)?,
            body: gate::body::<O>(spec, &incoming)?,
            facts: incoming.facts.clone(),
            app,
            caller,
            meta: meta.clone(),
        };
        let asked = Asked { spec, facts: &incoming.facts, caller: Some(&known), path: &incoming.path };
        match Box::pin(handler.handle(call)).await {
            // As behind a permission: the slower one of two calls with one key finds the faster one's answer.
            Err(failure) if meta.idempotency.is_some() && failure.error.code == ErrorCode::StateConflict => {
                let first = gate::replay(&service, spec, &context, &incoming, &mut meta).await?;
                first.map(FirstAnswer::again).ok_or(failure)
            }
            other => other.inspect_err(|failure| asked.failed(&service, failure)),
        }
    }
}

impl<C: Capability, O: Operation<Access = Self>> Admit<O> for OnKind<C> {
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let may = request.caller()?.snapshot.authorize_kind::<C>();
        let proof = may.map_err(|denial| request.refused(&denial))?;
        request.run(handler, proof).await
    }
}

impl<C: Capability, O: Operation<Access = Self>> Admit<O> for OnKindWithin<C> {
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let Some(place) = request.place::<C::On>() else { return Err(request.misspelt::<C>()?) };
        let may = request.caller()?.snapshot.authorize_kind_within::<C>(place);
        let proof = may.map_err(|denial| request.refused(&denial))?;
        request.run(handler, proof).await
    }
}

impl<C: Capability, O: Operation<Access = Self>> Admit<O> for OnSome<C> {
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let may = request.caller()?.snapshot.authorize_found::<C>();
        let proof = may.map_err(|denial| request.refused(&denial))?;
        request.run(handler, proof).await
    }
}

impl<C: Capability, O: Operation<Access = Self>> Admit<O> for OnOne<C> {
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let (Some(id), Some(place)) = (request.id::<C::On>(), request.place::<C::On>()) else {
            return Err(request.misspelt::<C>()?);
        };
        let key = request.caller()?.snapshot.claimed::<C::On>(id, place);
        let ownership = ownership::<C>(&request.app, request.caller()?, &key).await?;
        let may = request.caller()?.snapshot.authorize_owned::<C>(key, ownership);
        let proof = may.map_err(|denial| request.refused(&denial))?;
        request.run(handler, proof).await
    }
}

impl<C: Lists, O: Operation<Access = Self>> Admit<O> for OnList<C> {
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let may = request.caller()?.snapshot.authorize_list::<C>();
        let proof = may.map_err(|denial| request.refused(&denial))?;
        request.run(handler, proof).await
    }
}

impl<C: Lists, O: Operation<Access = Self>> Admit<O> for OnListWithin<C> {
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let Some(place) = request.place::<C::On>() else {
            let may = request.caller()?.snapshot.authorize_list::<C>();
            return Err(may.map_or_else(|denial| request.refused(&denial), |_| Failure::not_found()));
        };
        let may = request.caller()?.snapshot.authorize_list_within::<C>(place);
        let proof = may.map_err(|denial| request.refused(&denial))?;
        request.run(handler, proof).await
    }
}

impl<C, O> Admit<O> for OnLoaded<C>
where
    C: Capability,
    O: Operation<Access = Self> + Locate<Thing = C::On>,
{
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let access = reach::<C>(request.caller()?, false).map_err(|denial| request.refused(&denial))?;
        let tenant = request.caller()?.snapshot.tenant();
        let found = match request.path() {
            Ok(path) => O::locate(&request.app, tenant, &path).await,
            Err(_) => Err(UseCaseError::NotFound),
        };
        if matches!(found, Err(UseCaseError::NotFound))
            && let Ok(path) = request.path()
            && O::done_before(&request.app, tenant, request.caller()?.user.id, &path).await?
        {
            request.sent()?;
            return Ok(Response::none());
        }
        // What the first call did away with, such as a dead letter that was retried, is not there for its repeat.
        if matches!(found, Err(UseCaseError::NotFound))
            && let Some(first) = request.kept().await?
        {
            return Ok(first.again());
        }
        let may = match found {
            Ok(key) => {
                let unnamed = std::future::ready(Ok(false));
                proven::<C>(&request.app, request.caller()?, key, unnamed).await?
            }
            // Who may not do it to everything does not learn whether there is such a thing.
            Err(UseCaseError::NotFound) if access.is_everything() => return Err(request.absent()),
            Err(UseCaseError::NotFound) => Err(unlearned()),
            Err(error) => return Err(error.into()),
        };
        // A deny and a thing that is not there are told alike.
        let Ok(proof) = may else { return Err(request.refused(&unlearned())) };
        request.run(handler, proof).await
    }
}

/// Refusal by which nobody learns whether there is such a thing.
fn unlearned() -> DenialError {
    DenialError { reason: Reason::ResourceActionNotGranted, via: Vec::new() }
}

/// Things that a caller may do `C` to; nothing where they may do it to none and what names them may still be as good.
fn reach<C: Capability>(caller: &Authenticated, names: bool) -> Result<AccessFilter<C::On>, DenialError> {
    match caller.snapshot.authorize_some::<C>() {
        Err(denial) if names && denial.reason == Reason::ResourceActionNotGranted => {
            Ok(AccessFilter::default())
        }
        other => other,
    }
}

/// Proof that the caller may do `C` to a thing that was found, or that names them.
async fn proven<C: Capability>(
    app: &App,
    caller: &Authenticated,
    key: Key<C::On>,
    is_named: impl Future<Output = Result<bool, UseCaseError>> + Send,
) -> Result<Result<Authorized<C>, DenialError>, Failure> {
    let ownership = ownership::<C>(app, caller, &key).await?;
    let decided = caller.snapshot.authorize_owned::<C>(key.clone(), ownership);
    let open = matches!(&decided, Err(denial) if denial.reason == Reason::ResourceActionNotGranted);
    Ok(match open && is_named.await? {
        true => caller.snapshot.authorize_named::<C>(key, ownership),
        false => decided,
    })
}

impl<C, D, O> Admit<O> for OnEither<C, D>
where
    C: Capability<On = Run>,
    D: Capability<On = Case>,
    O: Operation<Access = Self> + LocateInstance,
{
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let proof = either::<C, D, O>(&request).await?;
        request.run(handler, proof).await
    }
}

/// Proof that the caller may do `C` to the run, or `D` to the case, that what the path names belongs to.
async fn either<C, D, O>(request: &Request<O>) -> Result<AuthorizedEither<C, D>, Failure>
where
    C: Capability<On = Run>,
    D: Capability<On = Case>,
    O: LocateInstance,
{
    let caller = request.caller()?;
    let (runs, cases) = (reach::<C>(caller, O::NAMES), reach::<D>(caller, O::NAMES));
    if let (Err(denial), Err(_)) = (&runs, &cases) {
        return Err(request.refused(denial));
    }
    let everything = runs.as_ref().is_ok_and(AccessFilter::is_everything)
        && cases.as_ref().is_ok_and(AccessFilter::is_everything);
    let path = request.path().ok();
    let found = match &path {
        Some(path) => O::locate(&request.app, caller.snapshot.tenant(), path).await,
        None => Err(UseCaseError::NotFound),
    };
    let key = match found {
        Ok(key) => key,
        // Who may not do it to everything does not learn whether there is such a thing.
        Err(UseCaseError::NotFound) if everything => return Err(request.absent()),
        Err(UseCaseError::NotFound) => return Err(request.refused(&unlearned())),
        Err(error) => return Err(error.into()),
    };
    let is_named = async {
        match &path {
            Some(path) if O::NAMES => O::names(&request.app, caller, path).await,
            Some(_) | None => Ok(false),
        }
    };
    let may = match (key.run(), key.case(), runs, cases) {
        (Some(key), _, Ok(_), _) => {
            proven::<C>(&request.app, caller, key, is_named).await?.map(AuthorizedEither::One)
        }
        (_, Some(key), _, Ok(_)) => {
            proven::<D>(&request.app, caller, key, is_named).await?.map(AuthorizedEither::Other)
        }
        (_, _, _, _) => Err(unlearned()),
    };
    // A deny and a thing that is not there are told alike.
    let Ok(proof) = may else {
        return Err(request.refused(&unlearned()));
    };
    Ok(proof)
}

impl<C, O> Admit<O> for OnNamed<C>
where
    C: Capability,
    O: Operation<Access = Self> + Named<Thing = C::On>,
{
    type Call = Call<O>;

    async fn admit<H: Handles<Call<O>>>(handler: H, request: Box<Request<O>>) -> HandlerResult {
        let some = request.caller()?.snapshot.authorize_some::<C>();
        let access = some.map_err(|denial| request.refused(&denial))?;
        let tenant = request.caller()?.snapshot.tenant();
        // What it is about is not known before the body is read, which tells nothing of what there is.
        let body = gate::body::<O>(O::ID.spec(), &request.incoming)?;
        // Who may not do it to everything does not learn whether there is such a thing.
        let denied = || DenialError { reason: Reason::ResourceActionNotGranted, via: Vec::new() };
        let may = match O::locate(&request.app, tenant, &access, &body).await {
            Ok(key) => {
                let ownership = ownership::<C>(&request.app, request.caller()?, &key).await?;
                request.caller()?.snapshot.authorize_owned::<C>(key, ownership)
            }
            Err(UseCaseError::NotFound) if access.is_everything() => return Err(Failure::not_found()),
            Err(UseCaseError::NotFound) => Err(denied()),
            Err(error) => return Err(error.into()),
        };
        let Ok(proof) = may else { return Err(request.refused(&denied())) };
        request.run_with(handler, proof, Some(body)).await
    }
}
